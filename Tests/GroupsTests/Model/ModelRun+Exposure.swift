import Vault

@testable import Groups

extension ModelRun {
    /// Compares which versions each person is said to know with what follows from who was allowed to
    /// read when. Reads neither boxes nor rungs.
    func checkExposure(
        _ compartment: Identifier, _ oracle: ModelOracle, _ changes: [ReceivedChange]
    ) throws {
        func past(_ entry: GroupHash) -> Set<GroupHash> {
            (oracle.entryPasts[entry] ?? []).union([entry])
        }
        /// The entry that made the keys which are current after an entry.
        func maker(_ entry: GroupHash) -> GroupHash? {
            past(entry).filter { name in
                oracle.entries[name]?.epochs.contains { $0.compartment == compartment } == true
            }.max { (oracle.entries[$0]?.number ?? 0) < (oracle.entries[$1]?.number ?? 0) }
        }
        var people: [Identifier: Set<Identifier>] = [:]
        for membership in oracle.memberships.values {
            for (id, member) in membership.members { people[member.person, default: []].insert(id) }
        }
        for members in people.values {
            var makers: Set<GroupHash> = []
            for (entry, membership) in oracle.memberships {
                let canRead = members.contains { id in
                    membership.members[id].map {
                        $0.sees(compartment) && $0.role != .writer
                    } == true
                }
                if canRead, let maker = maker(entry) { makers.formUnion(past(maker)) }
            }
            var expected: Set<ChangeReference> = []
            for change in changes where oracle.entries[change.header.entry] != nil {
                let isKnown =
                    members.contains(change.header.author)
                    || maker(change.header.entry).map(makers.contains) == true
                for (place, operation) in (change.operations ?? []).enumerated() where isKnown {
                    guard case .value = operation.operation else { continue }
                    expected.insert(
                        ChangeReference(change: change.name, operation: UInt16(place)))
                }
            }
            let found = ExposedVersion.versions(
                knownTo: members, of: changes, in: group.chain)
            guard Set(found.map(\.reference)) == expected, found.count == expected.count else {
                throw ModelFinding(
                    "\(found.count) versions are exposed to a person, not \(expected.count)")
            }
        }
    }
}
