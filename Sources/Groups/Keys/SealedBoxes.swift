internal import Vault

/// The boxes of one entry for one member: of the epochs that the entry makes, and of its grants.
struct SealedBoxes {
    struct Item {
        /// The epoch whose keys are in the boxes; a grant's was made by an earlier entry.
        let name: EpochName
        let epoch: MembershipState.Epoch
        let context: BoxContext
        let sealed: SealedKeys
    }

    let items: [Item]
    /// The public keys that the boxes are sealed to.
    let keys: MemberKeys?

    var isEmpty: Bool { items.isEmpty }

    init(of member: Identifier, in link: MembershipChain.Link, group: GroupHash) {
        let entry = link.entry
        var found = entry.epochs.compactMap { epoch in
            epoch.keys(of: member).map { (epoch.compartment, $0) }
        }
        let grants =
            entry.admissions.first(withKey: member, by: \.member)?.grants
            ?? entry.roles.first(withKey: member, by: \.member)?.grants ?? []
        found += grants.map { ($0.compartment, $0.keys) }
        items = found.compactMap { compartment, sealed in
            // A valid entry grants only keys of epochs that are current after it.
            link.state.epochs[compartment].map { epoch in
                Item(
                    name: EpochName(compartment: compartment, entry: epoch.entry), epoch: epoch,
                    context: BoxContext(
                        group: entry.number == 1 ? .zero : group, entry: entry.number,
                        compartment: compartment, epoch: epoch.number, recipient: member),
                    sealed: sealed)
            }
        }
        keys = link.state.members[member]?.keys
    }
}

/// A rung of an epoch, and the earlier epoch that it leads to.
struct LowerRung {
    /// The entry that has the rung.
    let link: MembershipChain.Link
    /// The earlier epoch.
    let name: EpochName
    let epoch: NewEpoch
    let context: RungContext
    let sealed: NewEpoch.Rung

    /// Returns the rungs of an epoch: none of a first one, two after a fork.
    static func rungs(
        of upper: EpochName, in link: MembershipChain.Link, chain: MembershipChain
    ) -> [LowerRung] {
        (link.entry.epoch(of: upper.compartment)?.rungs ?? []).compactMap { rung in
            guard let epoch = chain.link(rung.entry)?.entry.epoch(of: upper.compartment) else {
                return nil
            }
            return LowerRung(
                link: link, name: EpochName(compartment: upper.compartment, entry: rung.entry),
                epoch: epoch,
                context: RungContext(
                    group: chain.group, compartment: upper.compartment, epoch: epoch.number),
                sealed: rung)
        }
    }
}
