internal import Sealing
internal import Vault

/// Adds to an entry what follows from its other items: epochs with boxes and rungs, and grants.
struct EntrySealing {
    typealias Failure = EntryDraftError

    /// Without epochs and grants.
    let bare: Entry
    /// The membership before the entry; of a joining entry, that of both sides.
    let before: MembershipState
    /// The memberships after the entry's predecessors: none, one, or two.
    let sides: [MembershipState]
    /// The compartments that get an epoch, ascending.
    let compartments: [Identifier]
    /// The author's keys; nil for entry 1, which needs none.
    let ring: EpochKeyRing?
    private let after: MembershipState

    init(
        bare: Entry, before: MembershipState, sides: [MembershipState],
        compartments: [Identifier], ring: EpochKeyRing?
    ) {
        self.bare = bare
        self.before = before
        self.sides = sides
        self.compartments = compartments
        self.ring = ring
        after = before.applying(bare, named: .zero)
    }

    /// Checks bounds and the author's keys, before anything is generated.
    func check() throws(Failure) {
        guard compartments.count <= GroupLimits.compartments else {
            throw Failure(.bounds, "a group cannot share that many projects")
        }
        var byteCount = bare.byteCount
        for compartment in compartments {
            let current = current(compartment)
            guard current.allSatisfy({ $0.number < .max }) else {
                throw Failure(
                    .bounds, "a project has too many epochs", compartment: compartment)
            }
            for epoch in current {
                try requireKeys(of: epoch, compartment, readsValues: true)
            }
            let recipients = after.recipients(of: compartment)
            guard recipients.count <= GroupLimits.members else {
                throw Failure(.bounds, "a group cannot have that many members")
            }
            let readers = recipients.filter { readsValues($0) }
            // The fewest bytes of each, and one more box for who reads values.
            byteCount += 92 + 252 * current.count + 189 * recipients.count
            byteCount += GroupLimits.boxByteCount * readers.count
        }
        for member in bare.admissions.map(\.member) + bare.roles.map(\.member) {
            let gained = gains(of: member)
            guard gained.count <= GroupLimits.compartments else {
                throw Failure(.bounds, "a group cannot share that many projects")
            }
            for (compartment, epoch) in gained {
                try requireKeys(of: epoch, compartment, readsValues: readsValues(member))
            }
            byteCount +=
                (193 + (readsValues(member) ? GroupLimits.boxByteCount : 0)) * gained.count
        }
        guard byteCount <= GroupLimits.entry else {
            throw Failure(
                .bounds, "the entry would have more than \(GroupLimits.entry >> 20) MiB")
        }
    }

    private func requireKeys(
        of epoch: MembershipState.Epoch, _ compartment: Identifier, readsValues: Bool
    ) throws(Failure) {
        guard let ring, ring.hasIndexKey(of: compartment, madeBy: epoch.entry),
            !readsValues || ring.hasValueSecret(of: compartment, madeBy: epoch.entry)
        else {
            throw Failure(
                .missingKey, "this vault does not have the current keys of a project",
                compartment: compartment)
        }
    }

    private func readsValues(_ member: Identifier) -> Bool {
        after.members[member]?.rights.role.readsValues == true
    }

    /// The current epochs of a compartment, ascending by entry: two if the sides of a fork differ.
    private func current(_ compartment: Identifier) -> [MembershipState.Epoch] {
        let all = sides.compactMap { $0.epochs[compartment] }
        let distinct = Dictionary(all.map { ($0.entry, $0) }) { first, _ in first }
        return distinct.values.sorted { $0.entry < $1.entry }
    }

    /// The compartments whose keys a member gets by a grant, ascending.
    private func gains(of member: Identifier) -> [(Identifier, MembershipState.Epoch)] {
        guard let now = after.members[member] else { return [] }
        let old = before.members[member]
        return before.epochs.filter { compartment, _ in
            let hadAccess = old?.hasAccess(to: compartment) == true
            let readValues = old?.readsValues(of: compartment) == true
            return now.hasAccess(to: compartment)
                && compartments.first(withKey: compartment, by: { $0 }) == nil
                && (!hadAccess || (now.readsValues(of: compartment) && !readValues))
        }.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    // MARK: Sealing

    /// Returns the complete entry.
    func seal() throws(Failure) -> Entry {
        do throws(GroupError) {
            var scratch = try LabeledBox.scratch()
            var epochs: [NewEpoch] = []
            for compartment in compartments {
                epochs.append(try epoch(compartment, .random(), .random(), &scratch))
            }
            return try complete(epochs, &scratch)
        } catch { throw Failure(error) }
    }

    private func epoch(
        _ compartment: Identifier, _ index: borrowing IndexKeyOfEpoch,
        _ value: borrowing ValueSecretOfEpoch, _ scratch: inout SecretBytes
    ) throws(GroupError) -> NewEpoch {
        let current = current(compartment)
        let number = (current.map(\.number).max() ?? 0) + 1
        var recipients: [NewEpoch.Recipient] = []
        for member in after.recipients(of: compartment) {
            guard let keys = after.members[member]?.keys else { continue }
            let sealed = try context(compartment, number, member).seal(
                index, value, to: keys, readsValues: readsValues(member), scratch: &scratch)
            recipients.append(NewEpoch.Recipient(member: member, keys: sealed))
        }
        var rungs: [NewEpoch.Rung] = []
        for earlier in current {
            rungs.append(try rung(from: index, value, to: earlier, compartment))
        }
        return NewEpoch(
            compartment: compartment, number: number, valueKey: value.publicKey,
            indexCommitment: index.commitment(compartment: compartment, epoch: number),
            rungs: rungs, recipients: recipients)
    }

    private func context(
        _ compartment: Identifier, _ epoch: UInt32, _ recipient: Identifier
    ) -> BoxContext {
        // In entry 1 the group is zero in the boxes too, since its hash is not known yet.
        BoxContext(
            group: bare.group, entry: bare.number, compartment: compartment, epoch: epoch,
            recipient: recipient)
    }

    private func rung(
        from index: borrowing IndexKeyOfEpoch, _ value: borrowing ValueSecretOfEpoch,
        to earlier: MembershipState.Epoch, _ compartment: Identifier
    ) throws(GroupError) -> NewEpoch.Rung {
        let context = RungContext(
            group: bare.group, compartment: compartment, epoch: earlier.number)
        let publicKey = value.publicKey
        let indexRung = try ring?.withIndexKey(of: compartment, madeBy: earlier.entry) {
            (old) throws(GroupError) in try index.rung(for: old, context)
        }
        let valueRung = try ring?.withValueSecret(of: compartment, madeBy: earlier.entry) {
            (old) throws(GroupError) in
            try ValueSecretOfEpoch.rung(for: old, to: publicKey, context)
        }
        guard let indexRung, let valueRung else {
            throw GroupError(.tag, "the keys of an earlier epoch are missing")
        }
        return NewEpoch.Rung(entry: earlier.entry, index: indexRung, value: valueRung)
    }

    private func grants(
        for member: Identifier, _ scratch: inout SecretBytes
    ) throws(GroupError) -> [Grant] {
        guard let keys = after.members[member]?.keys else { return [] }
        var grants: [Grant] = []
        for (compartment, epoch) in gains(of: member) {
            let context = context(compartment, epoch.number, member)
            let index = try ring?.withIndexKey(of: compartment, madeBy: epoch.entry) {
                (key) throws(GroupError) in
                try context.sealIndexKey(key, to: keys, scratch: &scratch)
            }
            guard let index else {
                throw GroupError(.tag, "the keys of an earlier epoch are missing")
            }
            let value =
                !readsValues(member)
                ? nil
                : try ring?.withValueSecret(of: compartment, madeBy: epoch.entry) {
                    (secret) throws(GroupError) in
                    try context.sealValueSecret(secret, to: keys, scratch: &scratch)
                }
            grants.append(
                Grant(
                    compartment: compartment, epoch: epoch.number,
                    keys: SealedKeys(indexBox: index, valueBox: value)))
        }
        return grants
    }

    /// The entry with epochs and grants.
    private func complete(
        _ epochs: [NewEpoch], _ scratch: inout SecretBytes
    ) throws(GroupError) -> Entry {
        var entry = bare
        entry.epochs = epochs
        for (place, item) in bare.admissions.enumerated() {
            entry.admissions[place].grants = try grants(for: item.member, &scratch)
        }
        for (place, item) in bare.roles.enumerated() {
            entry.roles[place].grants = try grants(for: item.member, &scratch)
        }
        return entry
    }
}
