internal import Groups
package import Vault

extension StateApplication {
    /// What came from a colleague, for people.
    package struct Arrival: Equatable, Sendable {
        package enum Kind: Equatable, Sendable {
            case added, changed, removed, contested, offered, unreadable
            /// The author removed it while somebody stored a value, which stays.
            case kept
            /// The author stored a value while this vault removed the variable, which stays.
            case returned
            /// Only changes that do not count had added it.
            case withdrawn
            /// It is in use again, because the changes that added it count again.
            case restored
        }

        package let kind: Kind
        package let name: String
        package let scope: Scope
        package let author: Identifier
    }

    /// What came about a record: for each author what that author did.
    func arrivals(
        _ record: RecordState, _ old: SharedState.Record?, before: Variable?, after: Variable,
        _ contest: SharedProject.Contest
    ) -> [Arrival] {
        func fresh(_ things: Assigned...) -> [ChangeReference] {
            things.flatMap { thing in
                (record.candidates[thing] ?? []).filter { reference in
                    old?.candidates[thing]?.contains(reference) != true
                        && origins[reference.change].map { $0.author != me } == true
                }
            }
        }
        let removals = fresh(.value).filter { record.removals.contains($0) }
        let values = fresh(.value).filter { !record.removals.contains($0) }
        let attributes = fresh(.name, .scope, .type, .comment, .reminder)
        var found: [Arrival] = []
        func add(_ kind: Arrival.Kind, _ references: some Sequence<ChangeReference>) {
            for reference in references {
                guard let author = origins[reference.change]?.author,
                    !found.contains(where: { $0.author == author })
                else { continue }
                found.append(
                    Arrival(
                        kind: kind, name: after.name, scope: after.attributes.scope,
                        author: author))
            }
        }
        if contest.contains(.unreadable) {
            add(.unreadable, values + attributes + removals)
        } else if !contest.isEmpty {
            add(.contested, values + attributes + removals)
        } else if !record.isInUse {
            // Other changes of a variable that is out of use make no difference.
            add(.removed, removals)
        } else if record.isOffered || values.contains(where: isOffer(of: record)) {
            add(.offered, values + attributes)
        } else if before?.isLive == true {
            add(.kept, removals)
            add(.changed, values + attributes)
        } else if before != nil, record.wasRemovedMeanwhile {
            add(.returned, values)
            add(.changed, attributes)
        } else {
            // Who named it created it.
            add(.added, before == nil ? Array(fresh(.name).prefix(1)) : [])
            add(found.isEmpty ? .added : .changed, values + attributes)
            add(.kept, removals)
        }
        if found.isEmpty, old?.isInUse == false, before?.isLive == false, after.isLive {
            add(.restored, (record.candidates[.value] ?? []).prefix(1))
        }
        return found
    }

    private func isOffer(of record: RecordState) -> (ChangeReference) -> Bool {
        { reference in record.offers.contains { $0.version == reference } }
    }
}
