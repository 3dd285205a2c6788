package import Vault
internal import VercelAPI

/// The effect of a change on the records of one key.
package struct RecordEdit: Equatable {
    /// The record's position in the transaction's index.
    package let position: Int
    package let isNew: Bool
    /// Other records that lost targets.
    package let touched: [Touched]
    /// The strictest type that a value had in this scope before; nil if there was none.
    package var before: VariableAttributes.Kind?

    /// The effect of a change of the record at that position alone.
    package static func only(_ position: Int) -> RecordEdit {
        RecordEdit(position: position, isNew: false, touched: [])
    }

    /// A record other than the one that was set.
    package struct Touched: Equatable {
        /// Its scope before.
        package let before: Scope
        /// Its scope now; empty if it was removed.
        package let after: Scope
        /// The version of its value; 0 without one.
        package let version: UInt64
    }
}

extension VaultTransaction {
    /// Returns the project of that name, creating it if necessary.
    package mutating func project(
        named name: String, at time: UInt64
    ) -> (project: VaultProject, isNew: Bool) {
        if let project = index.project(named: name) { return (project, false) }
        let project = VaultProject(name: name, createdAt: time)
        index.projects.append(project)
        return (project, true)
    }

    /// Makes sure that one record of `key` has exactly `scope`; see ``ScopeAssignment``.
    ///
    /// A record that is new or gets the scope of others takes over what they had; see
    /// ``Inheritance``.
    ///
    /// - Parameters:
    ///   - records: The key's records, including removed ones; nil to look for them.
    ///   - kind: The type that was asked for; nil to keep or take over one.
    ///   - declared: The type that a schema gives a value in a place that never had one.
    ///   - source: The type of the value where it comes from; what gets it is as strict.
    package mutating func assign(
        _ scope: Scope, to key: String, of project: Identifier, records: [Variable]? = nil,
        kind: VariableAttributes.Kind? = nil, declared: VariableAttributes.Kind? = nil,
        source: VariableAttributes.Kind? = nil, at time: UInt64
    ) -> RecordEdit {
        let records =
            records ?? index.variables.filter { $0.project == project && $0.name == key }
        let live = records.filter(\.isLive)
        let plan = ScopeAssignment(of: scope, among: live)
        // No schema makes a Secret of what its name makes public.
        let isPublic = PublicPrefix(of: key)?.isRefusedForSecrets == true
        let declared = isPublic && declared == .sensitive ? nil : declared
        let inherited = Inheritance(in: scope, among: records, declared: declared)
        let before = live.filter { $0.attributes.scope.overlaps(scope) }
            .map(\.attributes.kind).strictest
        let exact = live.first { $0.attributes.scope == scope }
        let kept = [exact?.attributes.kind ?? inherited.kind, source].compactMap(\.self)
            .strictest
        let touched = leave(plan, at: time)
        guard let id = plan.record, let position = position(of: id) else {
            let attributes = VariableAttributes(
                kind: kind ?? kept ?? DefaultType.kind(of: key, in: scope, index), scope: scope,
                comment: inherited.comment)
            let position = add(key, attributes, of: project, among: records, at: time)
            index.variables[position].rotationSeconds = inherited.rotationSeconds
            return RecordEdit(position: position, isNew: true, touched: touched, before: before)
        }
        if let kind = kind ?? kept { index.variables[position].attributes.kind = kind }
        if exact == nil {
            index.variables[position].attributes.scope = scope
            index.variables[position].updatedAt = time
            if index.variables[position].attributes.comment == nil {
                index.variables[position].attributes.comment = inherited.comment
            }
            if index.variables[position].rotationSeconds == 0 {
                index.variables[position].rotationSeconds = inherited.rotationSeconds
            }
        }
        return RecordEdit(position: position, isNew: false, touched: touched, before: before)
    }

    /// Removes the scope of a plan from all other records.
    private mutating func leave(
        _ plan: ScopeAssignment, at time: UInt64
    ) -> [RecordEdit.Touched] {
        var touched: [RecordEdit.Touched] = []
        for narrowing in plan.narrowed {
            guard let position = position(of: narrowing.record) else { continue }
            touched.append(
                .init(
                    before: index.variables[position].attributes.scope, after: narrowing.scope,
                    version: index.variables[position].currentVersion))
            index.variables[position].attributes.scope = narrowing.scope
            index.variables[position].updatedAt = time
        }
        for id in plan.removed {
            guard let position = position(of: id) else { continue }
            touched.append(
                .init(
                    before: index.variables[position].attributes.scope, after: Scope(targets: []),
                    version: index.variables[position].currentVersion))
            remove(at: position, time: time)
        }
        return touched
    }

    /// Adds a record without a value. Its version numbers continue those of the key's other records, so
    /// that a number never means two values.
    mutating func add(
        _ key: String, _ attributes: VariableAttributes, of project: Identifier,
        among records: [Variable], at time: UInt64
    ) -> Int {
        var variable = Variable(
            project: project, name: key, attributes: attributes, createdAt: time)
        variable.highestVersion = records.map(\.highestVersion).max() ?? 0
        index.variables.append(variable)
        return index.variables.count - 1
    }

    /// Makes a record sensitive whose name was that of a sensitive one, so that the next value of that
    /// name is not readable. Development has no sensitive values by itself.
    ///
    /// - Parameter former: The records that had its name before.
    /// - Returns: Whether its type changed.
    package mutating func keepType(of former: [Variable], at position: Int) -> Bool {
        let (scope, id) = (index.variables[position].attributes.scope, index.variables[position].id)
        guard index.variables[position].attributes.kind != .sensitive,
            !scope.targets.contains(.development),
            former.contains(where: {
                $0.id != id && $0.attributes.kind == .sensitive
                    && $0.attributes.scope.overlaps(scope)
            })
        else { return false }
        index.variables[position].attributes.kind = .sensitive
        return true
    }

    /// Marks a record as removed. Its history stays, and so does Vercel's record until a push.
    package mutating func remove(at position: Int, time: UInt64) {
        index.variables[position].deletedAt = time
        index.variables[position].updatedAt = time
    }

    /// Returns a record's position in the index.
    package func position(of id: Identifier) -> Int? {
        index.variables.firstIndex { $0.id == id }
    }
}
