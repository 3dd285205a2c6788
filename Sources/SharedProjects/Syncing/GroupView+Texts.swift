internal import Groups
internal import Vault

extension GroupView {
    /// All members, for texts.
    package var people: [GroupMembership.Person] {
        var joinedAt: [Identifier: UInt64] = [:]
        var removals: [Identifier: GroupMembership.Removal] = [:]
        for link in chain.linksInOrder {
            let entry = link.entry
            for admission in entry.admissions { joinedAt[admission.member] = entry.createdAt }
            for removal in entry.removals {
                removals[removal.member] = GroupMembership.Removal(
                    author: entry.author, time: entry.createdAt)
            }
        }
        var wroteAt: [Identifier: UInt64] = [:]
        for change in changes.values.flatMap(\.values) {
            wroteAt[change.header.author] = max(
                wroteAt[change.header.author] ?? 0, change.createdAt)
        }
        var found: [Identifier: GroupMembership.Person] = [:]
        for state in chain.headStates {
            for (id, member) in state.members {
                let isActive = member.isActive && found[id]?.isActive != false
                found[id] = GroupMembership.Person(
                    member: id, person: member.person, name: member.name, rights: member.rights,
                    isActive: isActive, joinedAt: joinedAt[id] ?? 0, wroteAt: wroteAt[id] ?? 0,
                    removal: isActive ? nil : removals[id])
            }
        }
        return found.values.sorted { $0.member < $1.member }
    }

    /// Returns the author of a change that is there and opens.
    func author(of change: GroupHash, in compartment: Identifier) -> Identifier? {
        changes[compartment]?[change]?.header.author
    }

    /// The names of the variables that a change is about, ascending.
    func variables(
        in change: GroupHash, of compartment: Identifier, _ known: SharedState
    ) -> [String] {
        let operations = changes[compartment]?[change]?.operations ?? []
        let names = operations.compactMap { operation -> String? in
            switch operation.operation {
            case .create(let creation): return creation.name
            case .value(let value): return value.sealedName
            default: return known.records.first { $0.id == operation.record }?.name
            }
        }
        return Set(names).sorted()
    }
}
