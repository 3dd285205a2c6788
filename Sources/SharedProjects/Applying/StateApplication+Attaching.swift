internal import Groups
internal import Sealing
internal import Vault

extension StateApplication {
    /// The variable in use that a record is attached to again.
    ///
    /// - Parameter attached: Variables that are taken.
    func place(
        of record: RecordState, in shared: SharedProject, _ attached: Set<Identifier>,
        _ transaction: borrowing VaultTransaction
    ) -> Int? {
        guard record.isInUse else { return nil }
        return transaction.index.variables.firstIndex {
            $0.project == shared.project && $0.isLive && !attached.contains($0.id)
                && record.names.contains($0.name) && record.scopes.contains($0.attributes.scope)
        }
    }

    /// Returns the current version of a variable if it has this value.
    func current(
        equalTo value: SecretSlice, at position: Int, _ transaction: inout VaultTransaction
    ) throws -> UInt64? {
        let variable = transaction.index.variables[position]
        guard
            let own = try transaction.recordedValue(
                of: variable.id, version: variable.currentVersion, in: arena)
        else { return nil }
        return own.equals(value) ? variable.currentVersion : nil
    }

    /// Moves the variables that only this vault has to a project of their own: they were not meant
    /// for the group when they were made.
    ///
    /// - Returns: Their names, and the project; nil if there are none.
    func moveAside(
        besides attached: Set<Identifier>, of project: Identifier,
        _ transaction: inout VaultTransaction
    ) throws -> (names: [String], project: String)? {
        let places = transaction.index.variables.indices.filter { place in
            let variable = transaction.index.variables[place]
            return variable.project == project && variable.isLive
                && !attached.contains(variable.id)
        }
        guard !places.isEmpty else { return nil }
        let name = transaction.index.unusedProjectName(
            transaction.index.project(project)?.name ?? "", suffix: " (before)")
        let aside = VaultProject(name: name, createdAt: now)
        transaction.index.projects.append(aside)
        for place in places {
            try transaction.move(at: place, to: aside.id, time: now)
        }
        return (places.map { transaction.index.variables[$0].name }.sorted(), name)
    }
}
