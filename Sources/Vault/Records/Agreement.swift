/// What the vault and Vercel last agreed about one of Vercel's records, for the targets of a scope.
/// Times are Vercel's, in milliseconds since 1970; versions are the vault's. There is no digest of
/// the value, which could be guessed with the index key.
package struct Agreement: Equatable, Sendable {
    /// The name on Vercel.
    package internal(set) var key: String
    /// Empty for a record that Vercel left without a target.
    package internal(set) var scope: Scope
    /// The record's id on Vercel; empty only if it is gone.
    package internal(set) var record: String
    /// The account or team through which it was written.
    package internal(set) var account: String
    /// Whose version it has; nil if no variable of the vault does. The variable may be erased.
    package internal(set) var variable: Identifier?
    /// The vault's version that Vercel last agreed to; 0 for another value, and for one that is not
    /// proved.
    package internal(set) var version: UInt64
    package internal(set) var kind: VariableAttributes.Kind
    package internal(set) var comment: String?
    /// The modification time as agreed; 0 for never.
    package internal(set) var changedAt: UInt64
    /// Another modification time, whose value is undecided; 0 if nothing is.
    package internal(set) var awaitedAt: UInt64
    /// When this machine last pushed it, by its own clock; 0 for never.
    package internal(set) var pushedAt: UInt64
    /// When it was first known to be gone; 0 if it stands.
    package internal(set) var endedAt: UInt64
    /// An earlier version on Vercel, with the same name and scope; nil if none is known.
    package internal(set) var earlier: EarlierValue?

    static let minimumByteCount = 77

    func encode(into writer: inout ByteWriter) {
        writer.text(key)
        scope.encode(into: &writer)
        encodeContent(into: &writer)
    }

    /// Appends all but key and scope.
    func encodeContent(into writer: inout ByteWriter) {
        writer.text(record)
        writer.text(account)
        writer.identifier(variable ?? .zero)
        writer.uint64(version)
        writer.byte(kind.rawValue)
        writer.optionalText(comment)
        writer.uint64(changedAt)
        writer.uint64(awaitedAt)
        writer.uint64(pushedAt)
        writer.uint64(endedAt)
        writer.flag(earlier != nil)
        earlier?.encode(into: &writer)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Agreement {
        let key = try reader.text(limit: VaultFormat.nameLimit)
        let scope = try Scope.decode(from: &reader)
        let record = try reader.text(limit: VaultFormat.textLimit)
        let account = try reader.text(limit: VaultFormat.textLimit)
        let variable = try reader.identifier()
        let agreement = Agreement(
            key: key, scope: scope, record: record, account: account,
            variable: variable == .zero ? nil : variable, version: try reader.uint64(),
            kind: try VariableAttributes.Kind.decode(from: &reader),
            comment: try reader.optionalText(limit: VaultFormat.commentLimit),
            changedAt: try reader.uint64(), awaitedAt: try reader.uint64(),
            pushedAt: try reader.uint64(), endedAt: try reader.uint64(),
            earlier: try reader.flag() ? try EarlierValue.decode(from: &reader) : nil)
        guard !key.isEmpty else {
            throw VaultError(damaged: .encoding, "an agreement has no name")
        }
        guard !record.isEmpty || agreement.endedAt != 0 else {
            throw VaultError(damaged: .encoding, "an agreement about \(key) has no record")
        }
        return agreement
    }

    /// Its place among those of a project.
    var place: AgreementPlace {
        AgreementPlace(key: key, scope: scope, variable: variable ?? .zero)
    }

    /// All but name and scope, as bytes.
    var content: [UInt8] {
        var writer = ByteWriter()
        encodeContent(into: &writer)
        return writer.bytes
    }
}

/// Where an agreement is among those of a project: they ascend by name, branch, first target of the
/// scope, then variable.
struct AgreementPlace {
    let key: String
    let scope: Scope
    let variable: Identifier

    /// Returns whether this one of two with the same name comes first.
    func precedes(sameKey other: AgreementPlace) -> Bool {
        let branches = branchOrder(other)
        if branches != 0 { return branches < 0 }
        let (own, others) = (scope.firstTarget, other.scope.firstTarget)
        if own.rank != others.rank { return own.rank < others.rank }
        if let name = own.name, let other = others.name {
            let order = byteOrder(name, other)
            if order != 0 { return order < 0 }
        }
        return variable < other.variable
    }

    /// Returns a negative number if the own branch comes first, as an absent one does, and 0 for the
    /// same.
    func branchOrder(_ other: AgreementPlace) -> Int {
        switch (scope.branch, other.scope.branch) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (let own?, let other?): byteOrder(own, other)
        }
    }
}

/// A version that a push replaced. Builds between the two times used it.
package struct EarlierValue: Equatable, Sendable {
    package let version: UInt64
    /// Vercel's modification time when it was agreed.
    package let from: UInt64
    /// Vercel's modification time when it was replaced.
    package let until: UInt64

    package init(version: UInt64, from: UInt64, until: UInt64) {
        self.version = version
        self.from = from
        self.until = until
    }

    fileprivate func encode(into writer: inout ByteWriter) {
        writer.uint64(version)
        writer.uint64(from)
        writer.uint64(until)
    }

    fileprivate static func decode(
        from reader: inout ByteReader
    ) throws(VaultError) -> EarlierValue {
        EarlierValue(
            version: try reader.uint64(), from: try reader.uint64(), until: try reader.uint64())
    }
}

extension Scope {
    /// The first target in the order of the index: production, preview, development, then custom
    /// environments by name. An empty scope comes last.
    fileprivate var firstTarget: (rank: Int, name: String?) {
        if targets.contains(.production) { return (0, nil) }
        if targets.contains(.preview) { return (1, nil) }
        if targets.contains(.development) { return (2, nil) }
        return customEnvironments.first.map { (3, $0) } ?? (4, nil)
    }
}

/// Checks the order of agreements one by one, and that none differs from another one in the scope
/// only.
struct AgreementOrder {
    private var last: AgreementPlace?
    /// Before the first one of the last one's name and branch.
    private var start: ByteReader?
    /// Of those since then.
    private var variables: [Identifier] = []
    private var manyVariables: Set<Identifier> = []
    /// What those since then say; nil while no variable has two of them.
    private var contents: Set<[UInt8]>?

    /// Checks the next one.
    ///
    /// - Parameter reader: Before it.
    /// - Throws: ``VaultError/Code/damaged``.
    mutating func check(_ next: Agreement, at reader: ByteReader) throws(VaultError) {
        let place = next.place
        let isSameGroup = try follows(place)
        last = place
        if !isSameGroup {
            start = reader
            variables.removeAll(keepingCapacity: true)
            variables.append(place.variable)
            if !manyVariables.isEmpty { manyVariables = [] }
            contents = nil
            return
        }
        guard contents != nil || !isNew(place.variable) else { return }
        if contents == nil { contents = try contents(before: reader) }
        guard contents?.insert(next.content).inserted == true else {
            throw VaultError(
                damaged: .encoding, "two agreements about \(next.key) differ in their scope only")
        }
    }

    /// Returns whether the next one has the name and branch of the last one.
    private func follows(_ next: AgreementPlace) throws(VaultError) -> Bool {
        guard let last else { return false }
        let keys = byteOrder(last.key, next.key)
        guard keys < 0 || keys == 0 && last.precedes(sameKey: next) else {
            throw VaultError(damaged: .order, "the agreements are not in order")
        }
        return keys == 0 && last.branchOrder(next) == 0
    }

    /// Adds a variable, and returns whether it is the first time since the start. Nearly always there
    /// are a few.
    private mutating func isNew(_ variable: Identifier) -> Bool {
        if manyVariables.isEmpty {
            if variables.contains(variable) { return false }
            variables.append(variable)
            if variables.count > 16 { manyVariables = Set(variables) }
            return true
        }
        return manyVariables.insert(variable).inserted
    }

    /// Reads again what those since the start say.
    private func contents(before end: ByteReader) throws(VaultError) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        guard var reader = start else { return found }
        while reader.offset < end.offset {
            found.insert(try Agreement.decode(from: &reader).content)
        }
        return found
    }
}
