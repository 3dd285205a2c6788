extension VaultTransaction {
    /// The first open rotation one of whose records this transaction changes: its value, name or place,
    /// or whether it is in use. Going on or back with it would lose what is changed here, or leave two
    /// values in two places.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a journal that cannot be read.
    package func disturbedRotation() throws(VaultError) -> RotationEntry? {
        guard index.journal.contains(where: { $0.kind == RotationEntry.openKind }) else {
            return nil
        }
        let open = try index.rotations().filter(\.isOpen)
        let rotated = Set(open.flatMap(\.plan.members).flatMap(\.records).map(\.variable))
        var states: [Identifier: RotatedState] = [:]
        for variable in index.variables where rotated.contains(variable.id) {
            states[variable.id] = RotatedState(variable)
        }
        // One that was gone before is not changed here.
        let changed = Set(
            before.variables.lazy.filter {
                rotated.contains($0.id) && RotatedState($0) != states[$0.id]
            }
            .map(\.id))
        if changed.isEmpty { return nil }
        return open.first { rotation in
            rotation.plan.members.contains { member in
                member.records.contains { changed.contains($0.variable) }
            }
        }
    }
}

/// What a rotation relies on of a record.
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
