package import Sealing

/// What a group learns of a record: its state as a holder of the root wrote or accepted it.
package struct RecordedVariable: Equatable, Sendable {
    package let id: Identifier
    package let name: String
    package let scope: Scope
    package let kind: VariableAttributes.Kind
    package let comment: String?
    package let rotationSeconds: UInt64
    package let isLive: Bool
    /// The number of the current version; 0 without a value.
    package let version: UInt64
}

extension VaultTransaction {
    /// Returns the accepted states of a project's records, ascending by id. What a locked write
    /// changed is not among them until somebody accepts it.
    ///
    /// Call it when the checkpoint holds this transaction's own changes.
    package func acceptedVariables(of project: Identifier) -> [RecordedVariable] {
        let entries = index.checkpoint.entries
        return index.variables.enumerated().compactMap { position, variable in
            guard
                let place = entries.place(ofRecord: variable.id, guess: position),
                entries.project(at: place) == project,
                case .variable(let accepted) = entries.accepted(at: place)
            else { return nil }
            return RecordedVariable(
                id: accepted.id, name: accepted.name, scope: accepted.scope, kind: accepted.kind,
                comment: variable.attributes.comment, rotationSeconds: accepted.rotationSeconds,
                isLive: accepted.isLive, version: accepted.currentVersion)
        }.sorted { $0.id < $1.id }
    }

    /// Opens an accepted version, also one that this transaction sealed.
    ///
    /// - Returns: nil if the vault does not have the version, or it was not accepted.
    package mutating func acceptedValue(
        of id: Identifier, version number: UInt64, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice? {
        guard let variable = index.variables.first(where: { $0.id == id }) else { return nil }
        let current = index.currentVersions[id].flatMap { $0.version == number ? $0 : nil }
        let found =
            current ?? index.earlierVersions.first { $0.variable == id && $0.version == number }
        guard let found, index.accepts(found) else { return nil }
        if found.offset >= header.chunksByteCount {
            return try newValue(found, of: variable, in: arena)
        }
        return try values?.anyValue(of: variable, found, in: arena)
    }
}
