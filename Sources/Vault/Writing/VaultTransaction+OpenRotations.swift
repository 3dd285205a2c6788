extension VaultTransaction {
    /// Returns the first open rotation with a record that this transaction changes: its value,
    /// name, scope, or whether it is in use. Resuming or reverting that rotation would lose this
    /// change, or leave different values in different places.
    ///
    /// - Throws: ``VaultError/Code/damaged`` if the journal is malformed.
    package func affectedRotation() throws(VaultError) -> RotationEntry? {
        guard index.journal.contains(where: { $0.kind == RotationEntry.openKind }) else {
            return nil
        }
        let open = try index.rotations().filter(\.isOpen)
        let changed = changedValues(
            among: Set(open.flatMap(\.plan.members).flatMap(\.records).map(\.variable)))
        if changed.isEmpty { return nil }
        return open.first { rotation in
            rotation.plan.members.contains { member in
                member.records.contains { changed.contains($0.variable) }
            }
        }
    }

    /// Returns which of some records this transaction changes in what a rotation relies on: value,
    /// name, scope, type, or whether it is in use.
    package func changedValues(among rotated: Set<Identifier>) -> Set<Identifier> {
        var states: [Identifier: RotatedState] = [:]
        for variable in index.variables where rotated.contains(variable.id) {
            states[variable.id] = RotatedState(variable)
        }
        // Records that were already gone are not changed here.
        return Set(
            before.variables.lazy.filter {
                rotated.contains($0.id) && RotatedState($0) != states[$0.id]
            }
            .map(\.id))
    }
}

/// The fields of a record that a rotation relies on.
private struct RotatedState: Equatable {
    let project: Identifier
    let name: String
    let isLive: Bool
    let scope: Scope
    let kind: VariableAttributes.Kind
    let version: UInt64

    init(_ variable: Variable) {
        project = variable.project
        name = variable.name
        isLive = variable.isLive
        scope = variable.attributes.scope
        kind = variable.attributes.kind
        version = variable.currentVersion
    }
}
