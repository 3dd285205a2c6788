internal import Groups
package import Vault

/// What colleagues did to a variable that may have effects here, and that the user has not accepted.
///
/// Kept in the entry of the shared project, which only the root writes: who holds just the index key
/// cannot accept anything.
package struct HeldChange: Equatable, Sendable {
    /// What the variable would do that it did not do when it was last accepted.
    package struct Effects: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A value of a colleague under a name that changes what programs run or read.
        package static let program = Effects(rawValue: 1)
        package static let name = Effects(rawValue: 2)
        /// A place that the variable was not for.
        package static let scope = Effects(rawValue: 4)
        package static let weakerType = Effects(rawValue: 8)
        /// A variable that a writer created, and no one else has taken.
        package static let offer = Effects(rawValue: 16)

        package static let all: Effects = [.program, .name, .scope, .weakerType, .offer]
        /// What matters to a variable that is sent to Vercel.
        package static let ofSending: Effects = [.name, .scope, .weakerType, .offer]
        /// What matters to a program or file that gets the value.
        package static let ofValues: Effects = [.program, .name, .scope, .offer]
    }

    /// The accepted scope of a variable that a writer created.
    static let nowhere = Scope(targets: [])

    package let variable: Identifier
    /// Who changed it last.
    package var author: Identifier
    /// As last accepted.
    package var name: String
    package var kind: VariableAttributes.Kind
    package var scope: Scope
    /// The version under a name that changes what programs do; 0 for none.
    package var version: UInt64

    /// - Parameter variable: As last accepted.
    package init(of variable: Variable, author: Identifier) {
        self.variable = variable.id
        self.author = author
        (name, version) = (variable.name, 0)
        (kind, scope) = (variable.attributes.kind, variable.attributes.scope)
    }

    init(from reader: inout ByteReader) throws(VaultError) {
        variable = try reader.identifier()
        author = try reader.identifier()
        name = try reader.filledText(limit: VaultFormat.nameLimit)
        kind = try VariableAttributes.Kind.decode(from: &reader)
        scope = try Scope.decode(from: &reader)
        version = try reader.uint64()
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(variable)
        writer.identifier(author)
        writer.text(name)
        writer.byte(kind.rawValue)
        scope.encode(into: &writer)
        writer.uint64(version)
    }

    /// Compares a variable with what was accepted.
    package func effects(on variable: Variable) -> Effects {
        var found: Effects = []
        if version > 0, variable.currentVersion == version { found.insert(.program) }
        if !variable.name.utf8.elementsEqual(name.utf8) { found.insert(.name) }
        if isOffer {
            found.insert(.offer)
        } else if !variable.attributes.scope.isIncluded(in: scope) {
            found.insert(.scope)
        }
        if variable.attributes.kind.strictness < kind.strictness { found.insert(.weakerType) }
        return found
    }

    /// Whether a writer created the variable, and no one else has taken it.
    package var isOffer: Bool { scope.isEmpty }

    /// Accepts what the user assigned here.
    mutating func accept(_ things: Set<Assigned>, of variable: RecordedVariable) {
        // Without a value of the user's, the writer's stays an offer.
        if isOffer, !things.contains(.value) { return }
        if isOffer { (name, kind, scope) = (variable.name, variable.kind, variable.scope) }
        if things.contains(.name) { name = variable.name }
        if things.contains(.type) { kind = variable.kind }
        if things.contains(.scope) { scope = variable.scope }
    }
}

extension SharedProject {
    /// Returns the variables in use with changes that the user has not accepted.
    package func changesToAccept(
        in index: VaultIndex
    ) -> [(change: HeldChange, variable: Variable, effects: HeldChange.Effects)] {
        if held.isEmpty { return [] }
        let changes = Dictionary(
            held.map { ($0.variable, $0) }, uniquingKeysWith: { first, _ in first })
        return index.variables.compactMap { variable in
            guard variable.isLive, let change = changes[variable.id] else { return nil }
            let effects = change.effects(on: variable)
            return effects.isEmpty ? nil : (change, variable, effects)
        }
    }
}
