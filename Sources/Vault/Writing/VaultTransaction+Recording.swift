package import Sealing

/// What a group learns of a record.
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
    /// Returns the states of a project's records, ascending by id.
    package func recordedVariables(of project: Identifier) -> [RecordedVariable] {
        index.variables.lazy.filter { $0.project == project }.map { variable in
            RecordedVariable(
                id: variable.id, name: variable.name, scope: variable.attributes.scope,
                kind: variable.attributes.kind, comment: variable.attributes.comment,
                rotationSeconds: variable.rotationSeconds, isLive: variable.isLive,
                version: variable.currentVersion)
        }.sorted { $0.id < $1.id }
    }

    /// Opens a version, also one that this transaction sealed.
    ///
    /// - Returns: nil if the vault does not have the version.
    package mutating func recordedValue(
        of id: Identifier, version number: UInt64, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice? {
        guard let variable = index.variables.first(where: { $0.id == id }) else { return nil }
        let current = index.currentVersions[id].flatMap { $0.version == number ? $0 : nil }
        let found =
            current ?? index.earlierVersions.first { $0.variable == id && $0.version == number }
        guard let found else { return nil }
        if found.offset >= header.blocksByteCount {
            return try newValue(found, of: variable, in: arena)
        }
        return try values.value(of: variable, found, in: arena)
    }
}
