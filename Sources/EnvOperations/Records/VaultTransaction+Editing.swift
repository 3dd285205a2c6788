package import Vault

/// The effect of a change on the records of one key.
package struct RecordEdit: Equatable {
    /// The record's position in the transaction's index.
    package let position: Int
    package let isNew: Bool
    /// Other records that lost targets.
    package let touched: [Touched]

    /// A record other than the one that was set.
    package struct Touched: Equatable {
        /// Its scope before.
        package let before: Scope
        /// Its scope now; empty if it was removed.
        package let after: Scope
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
    /// - Parameters:
    ///   - records: The key's records, including removed ones; nil to look for them.
    ///   - kind: The type of a new record.
    package mutating func assign(
        _ scope: Scope, to key: String, of project: Identifier, records: [Variable]? = nil,
        kind: VariableAttributes.Kind, at time: UInt64
    ) -> RecordEdit {
        let records =
            records ?? index.variables.filter { $0.project == project && $0.name == key }
        let plan = ScopeAssignment(of: scope, among: records.filter(\.isLive))
        var touched: [RecordEdit.Touched] = []
        for narrowing in plan.narrowed {
            guard let position = position(of: narrowing.record) else { continue }
            touched.append(
                .init(
                    before: index.variables[position].attributes.scope, after: narrowing.scope))
            index.variables[position].attributes.scope = narrowing.scope
            index.variables[position].updatedAt = time
        }
        for id in plan.removed {
            guard let position = position(of: id) else { continue }
            touched.append(
                .init(
                    before: index.variables[position].attributes.scope, after: Scope(targets: [])))
            remove(at: position, time: time)
        }
        if let id = plan.record, let position = position(of: id) {
            if index.variables[position].attributes.scope != scope {
                index.variables[position].attributes.scope = scope
                index.variables[position].updatedAt = time
            }
            return RecordEdit(position: position, isNew: false, touched: touched)
        }
        return RecordEdit(
            position: add(
                key, .init(kind: kind, scope: scope), of: project, among: records, at: time),
            isNew: true,
            touched: touched)
    }

    /// Adds a record without a value. Its version numbers continue those of removed records of the
    /// key, so that a number never means two values.
    mutating func add(
        _ key: String, _ attributes: VariableAttributes, of project: Identifier,
        among records: [Variable], at time: UInt64
    ) -> Int {
        var variable = Variable(
            project: project, name: key, attributes: attributes, createdAt: time)
        let removed = records.filter { !$0.isLive }
        variable.highestVersion = removed.map(\.highestVersion).max() ?? 0
        index.variables.append(variable)
        return index.variables.count - 1
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
