package import Groups
package import Sealing
package import Vault

/// What the objects of a group mean to one member: the membership, the keys, and the state of each
/// compartment. Reads objects and changes nothing.
package final class GroupView {
    package let chain: MembershipChain
    private let member: Identifier
    /// The keys of all epochs that this member can open.
    package let keyRing: EpochKeyRing
    /// The changes of each compartment.
    private(set) var changes: [Identifier: [GroupHash: ReceivedChange]] = [:]
    /// Changes that do not decode or open, and why. They take no part.
    package private(set) var refused: [GroupHash: GroupError] = [:]
    private let read: (GroupHash) throws -> [UInt8]?
    /// The values of the change that was opened last: usually many are needed.
    private var opened: (change: GroupHash, values: [UInt16: SecretSlice])?

    /// - Parameters:
    ///   - entries: The group's entries, in any order. Objects that are not entries are left out.
    ///   - names: The names of all changes.
    ///   - read: Returns the bytes of a change.
    package init(
        group: GroupHash, entries: [[UInt8]], changes names: [GroupHash],
        member: Identifier, secrets: MemberSecrets,
        read: @escaping (GroupHash) throws -> [UInt8]?
    ) throws {
        chain = MembershipChain(group: group, entries: entries)
        self.member = member
        self.read = read
        let indexBox = try secrets.boxKeyPair(.indexBox)
        let valueBox = try secrets.boxKeyPair(.valueBox)
        keyRing = try EpochKeyRing(member: member)
        try keyRing.update(with: chain, indexBox: indexBox, valueBox: valueBox)
        let accessible = Set(compartments)
        for name in names {
            guard let object = try read(name) else { continue }
            do throws(GroupError) {
                let change = try Change(object)
                guard change.header.group == group else { continue }
                let compartment = change.header.compartment
                guard let received = try received(change) else {
                    // Nobody is to blame for a project that is not this member's.
                    if accessible.contains(compartment) {
                        throw GroupError(.tag, "the keys of a change are missing")
                    }
                    continue
                }
                changes[compartment, default: [:]][name] = received
            } catch { refused[name] = error }
        }
    }

    /// Opens a change; one whose entry is not there, or has no epoch, waits. Returns nil for one of a
    /// compartment whose keys this member never had: it takes no part. A change that names another
    /// epoch is opened too: the fold says that it is late.
    private func received(_ change: Change) throws(GroupError) -> ReceivedChange? {
        let compartment = change.header.compartment
        guard let link = chain.link(change.header.entry),
            let epoch = link.state.epochs[compartment]
        else { return ReceivedChange(waiting: change) }
        return try keyRing.withIndexKey(of: compartment, madeBy: epoch.entry) {
            (key) throws(GroupError) in
            try ReceivedChange(opening: change, after: link, with: key)
        }
    }

    /// The compartments whose current keys this member has, ascending.
    package var compartments: [Identifier] {
        let current = Set(chain.headStates.flatMap { $0.epochs.keys })
        return current.filter { compartment in
            chain.headStates.contains {
                $0.members[member]?.hasAccess(to: compartment) == true
                    && $0.epochs[compartment] != nil
            }
        }.sorted()
    }

    /// What this member may do: what all heads of the membership agree on; nil if it is not active.
    package var rights: MemberRights? {
        let all = chain.headStates.map { $0.members[member] }
        guard let first = all.first ?? nil,
            all.allSatisfy({ $0?.isActive == true && $0?.rights == first.rights })
        else { return nil }
        return first.rights
    }

    /// Whether some entry admitted this member.
    package var wasAdmitted: Bool {
        chain.headStates.contains { $0.members[member] != nil }
    }

    /// The head with the highest number, and of several the one with the lowest hash; nil without
    /// entries.
    package var newest: GroupMembership.NewestEntry? {
        let heads = chain.heads.compactMap { chain.link($0) }
        guard let number = heads.map(\.entry.number).max(),
            let head = heads.first(where: { $0.entry.number == number })
        else { return nil }
        return GroupMembership.NewestEntry(name: head.name, number: number)
    }

    /// Computes the state of a compartment.
    package func state(of compartment: Identifier) -> CompartmentState {
        CompartmentFold.state(of: changes(in: compartment), chain: chain)
    }

    /// The changes of a compartment that open, in no order.
    package func changes(in compartment: Identifier) -> [ReceivedChange] {
        Array((changes[compartment] ?? [:]).values)
    }

    /// The group's id of a version; nil if its change is not there.
    package func versionID(of reference: ChangeReference) -> Identifier? {
        changes.values.lazy.compactMap { $0[reference.change]?.versionID(of: reference) }.first
    }

    /// Whether a change is there and opens.
    package func has(_ change: GroupHash, in compartment: Identifier) -> Bool {
        changes[compartment]?[change] != nil
    }

    package func origins(in compartment: Identifier) -> [GroupHash: StateApplication.Origin] {
        (changes[compartment] ?? [:]).mapValues {
            StateApplication.Origin(author: $0.header.author, createdAt: $0.createdAt)
        }
    }

    /// Returns the claim about Vercel that an operation makes.
    package func claim(
        _ reference: ChangeReference, in compartment: Identifier
    ) -> Operation.Claim? {
        let change = changes[compartment]?[reference.change]
        guard case .claim(let claim) = change?.operation(reference)?.operation else { return nil }
        return claim
    }

    /// The newest entry number that a member's changes name, in all compartments; nil for a member
    /// who never wrote.
    package func lastSeen(of member: Identifier) -> UInt64? {
        changes.values.flatMap(\.values).filter { $0.header.author == member }
            .map(\.header.entryNumber).max()
    }

    /// The heads of a member's changes, for the cut of an entry that lowers it: what this vault has
    /// seen of them.
    package func heads(ofChangesBy member: Identifier, in compartment: Identifier) -> [GroupHash] {
        let own = (changes[compartment] ?? [:]).values.filter { $0.header.author == member }
        let followed = Set(own.flatMap(\.header.predecessors))
        return own.map(\.name).filter { !followed.contains($0) }.sorted()
    }

    /// The heads of a member's changes in all compartments, for an entry that lowers it.
    package func cut(of member: Identifier) -> Cut {
        Cut(
            heads: Dictionary(
                uniqueKeysWithValues: changes.keys.map {
                    ($0, heads(ofChangesBy: member, in: $0))
                }))
    }

    /// Keeps the current keys of all compartments, with which this member writes.
    package func keepCurrentKeys(in secrets: MemberSecrets) throws(GroupError) {
        secrets.keepOnly(Set(compartments))
        guard let head = newest.flatMap({ chain.link($0.name)?.state }) else { return }
        for compartment in compartments {
            guard let epoch = head.epochs[compartment],
                secrets.epoch(of: compartment)?.entry != epoch.entry
            else { continue }
            _ = try keyRing.withIndexKey(of: compartment, madeBy: epoch.entry) {
                (key) throws(GroupError) in
                try secrets.keep(
                    compartment, number: epoch.number, entry: epoch.entry,
                    valueKey: epoch.valueKey, indexKey: key)
            }
        }
    }

    /// Opens the value of an operation into `arena`.
    ///
    /// - Returns: nil if this member may not read values, or if the change is not there.
    /// - Throws: ``GroupError`` if the value does not open.
    package func value(
        of reference: ChangeReference, in arena: SecretArena
    ) throws -> SecretSlice? {
        if opened?.change != reference.change {
            guard let object = try read(reference.change) else { return nil }
            guard let values = try values(of: try Change(object), in: arena) else { return nil }
            opened = (reference.change, values)
        }
        return opened?.values[reference.operation]
    }

    private func values(
        of change: Change, in arena: SecretArena
    ) throws(GroupError) -> [UInt16: SecretSlice]? {
        let compartment = change.header.compartment
        guard let epoch = chain.link(change.header.entry)?.state.epochs[compartment] else {
            return nil
        }
        let content = try keyRing.withIndexKey(of: compartment, madeBy: epoch.entry) {
            (key) throws(GroupError) in try change.open(with: key)
        }
        guard let content else { return nil }
        let slices = try keyRing.withValueSecret(of: compartment, madeBy: epoch.entry) {
            (secret) throws(GroupError) in
            try change.openValues(content, with: secret, in: arena)
        }
        guard let slices else { return nil }
        var (found, next): ([UInt16: SecretSlice], Int) = ([:], 0)
        for (place, operation) in content.operations.enumerated() {
            guard case .value = operation.operation else { continue }
            found[UInt16(place)] = slices[next]
            next += 1
        }
        return found
    }
}
