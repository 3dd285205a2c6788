internal import Vault

/// The epochs whose values some members can open: with the boxes that entries have for them, and by
/// the rungs from there to earlier epochs.
///
/// Looks only at what was sealed to whom, and opens nothing. A box that a dishonest admin filled with
/// something else counts too.
struct ReadableEpochs: Sendable {
    private let names: Set<EpochName>

    /// - Parameter members: All members of a person, who can read on each of these machines.
    init(by members: Set<Identifier>, in chain: MembershipChain) {
        var names: Set<EpochName> = []
        var open: [EpochName] = []
        for link in chain.linksInOrder {
            for member in members {
                let boxes = SealedBoxes(of: member, in: link, group: chain.group)
                open += boxes.items.filter { $0.sealed.valueBox != nil }.map(\.name)
            }
        }
        while let name = open.popLast() {
            guard names.insert(name).inserted, let link = chain.link(name.entry) else { continue }
            open += LowerRung.rungs(of: name, in: link, chain: chain).map(\.name)
        }
        self.names = names
    }

    func contains(_ epoch: EpochName) -> Bool { names.contains(epoch) }
}
