internal import Sealing
internal import Vault

extension Workspace {
    /// Asks for the passphrase unless the settings say otherwise, opens the current value of one
    /// record, and writes the audit log entry. The session keeps the values' keys.
    ///
    /// - Parameter command: The command for the audit log.
    /// - Throws: ``ExitCode/notFound`` if the record or its value is missing.
    func revealed(
        _ id: Identifier, in project: VaultProject, command: String
    ) throws -> (record: Variable, value: SecretSlice) {
        let keys =
            try session.keys(
                .values, asking: Settings(context).isOn(.revealFromCache) ? .ifNeeded : .always)
        let vault = try session.opened()
        let index = try vault.index(with: keys, extent: .currentValues)
        guard let record = index.variables(of: project.id).first(where: { $0.id == id }) else {
            throw CommandError(.notFound, "This variable is no longer in the vault.")
        }
        let reader = try ValueReader.required(vault, index, keys)
        guard let value = try reader.currentValue(of: record, in: SecretArena()) else {
            throw CommandError(
                .notFound,
                "The vault has no value for \(record.name), because Vercel did not show it."
            )
        }
        try audit(
            AuditEntry.Outcome.givenOut, [record.name], project: project.name,
            place: record.attributes.scope.description, command: command,
            seen: index.metadata)
        return (record, value)
    }
}
