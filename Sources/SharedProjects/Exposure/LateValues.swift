package import Groups
package import Vault

/// Values that somebody stored with keys from before a removal, because they had not synced.
package struct LateValue: Equatable, Sendable {
    package let record: Identifier
    package let author: Identifier
    /// The members who were removed and can read it, ascending.
    package let readers: [Identifier]
}

extension GroupView {
    /// Returns those of some values that members who were removed can read.
    package func lateValues(
        _ references: Set<ChangeReference>, in compartment: Identifier
    ) -> [LateValue] {
        if references.isEmpty { return [] }
        let new = Set(references.map(\.change))
        let changes = changes(in: compartment).filter { new.contains($0.name) }
        let removed = Set(
            chain.headStates.flatMap { state in
                state.members.filter { !$0.value.isActive }.map(\.key)
            })
        var readers: [ChangeReference: Set<Identifier>] = [:]
        for member in removed {
            for version in ExposedVersion.versions(knownTo: [member], of: changes, in: chain)
            where references.contains(version.reference) && version.author != member {
                readers[version.reference, default: []].insert(member)
            }
        }
        return changes.flatMap { change in
            (change.operations ?? []).enumerated().compactMap { place, operation in
                let reference = ChangeReference(change: change.name, operation: UInt16(place))
                guard let found = readers[reference], let record = operation.record else {
                    return nil
                }
                return LateValue(
                    record: record, author: change.header.author, readers: found.sorted())
            }
        }
    }
}
