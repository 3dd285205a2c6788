package import Sealing
package import Vault

/// The keys of all epochs that a member can open.
///
/// Index keys and value secrets are collected separately, since only the former can be opened while
/// the values are locked.
package final class EpochKeyRing {
    package let member: Identifier
    private var found: Set<KeyProblem> = []
    private var indexKeys = Tier()
    private var valueSecrets = Tier()
    private var recentIndexKeys = RecentKeys<IndexKeyOfEpoch>()
    private var recentValueSecrets = RecentKeys<ValueSecretOfEpoch>()
    private let arena = SecretArena(firstRegionByteCount: 4_096)
    private var scratch: SecretBytes

    /// The secrets of one kind.
    private struct Tier {
        /// 32 bytes each.
        var secrets: [EpochName: SecretSlice] = [:]
        /// Entries without boxes that could still be opened.
        var examined: Set<GroupHash> = []
        /// Epochs whose rungs were not followed yet.
        var unfollowed: [EpochName] = []

        mutating func store(_ secret: SecretSlice, as name: EpochName) {
            secrets[name] = secret
            unfollowed.append(name)
        }
    }

    /// Creates a ring without keys.
    package init(member: Identifier) throws(GroupError) {
        self.member = member
        scratch = try LabeledBox.scratch()
    }

    /// The epochs of which the ring has the index key or the value secret, ascending.
    package var epochs: [EpochName] {
        Set(indexKeys.secrets.keys).union(valueSecrets.secrets.keys).sorted()
    }

    /// What did not open so far, ascending. An epoch named here can have a key from elsewhere.
    package var problems: [KeyProblem] { found.sorted() }

    package func hasIndexKey(of compartment: Identifier, madeBy entry: GroupHash) -> Bool {
        indexKeys.secrets[EpochName(compartment: compartment, entry: entry)] != nil
    }

    package func hasValueSecret(of compartment: Identifier, madeBy entry: GroupHash) -> Bool {
        valueSecrets.secrets[EpochName(compartment: compartment, entry: entry)] != nil
    }

    /// Passes an index key to `body`, or returns nil if the ring has none.
    package func withIndexKey<R>(
        of compartment: Identifier, madeBy entry: GroupHash,
        _ body: (borrowing IndexKeyOfEpoch) throws(GroupError) -> R
    ) throws(GroupError) -> R? {
        let name = EpochName(compartment: compartment, entry: entry)
        guard let secret = indexKeys.secrets[name] else { return nil }
        let holder = try recentIndexKeys.holder(of: name) { () throws(GroupError) in
            try IndexKeyOfEpoch(LabeledBox.copy(secret))
        }
        return try body(holder.key)
    }

    /// Passes a value secret to `body`, or returns nil if the ring has none.
    package func withValueSecret<R>(
        of compartment: Identifier, madeBy entry: GroupHash,
        _ body: (borrowing ValueSecretOfEpoch) throws(GroupError) -> R
    ) throws(GroupError) -> R? {
        let name = EpochName(compartment: compartment, entry: entry)
        guard let secret = valueSecrets.secrets[name] else { return nil }
        let holder = try recentValueSecrets.holder(of: name) { () throws(GroupError) in
            try ValueSecretOfEpoch(LabeledBox.copy(secret))
        }
        return try body(holder.key)
    }

    /// Opens what new entries bring: index keys only.
    ///
    /// Boxes for other keys of this member, which it had before or after, are ignored.
    ///
    /// - Throws: ``GroupError/Code/outOfMemory``. Everything else is one of the ``problems``.
    package func update(
        with chain: MembershipChain, indexBox: borrowing SealedBox.KeyPair
    ) throws(GroupError) {
        for link in chain.linksInOrder where !indexKeys.examined.contains(link.name) {
            let boxes = SealedBoxes(of: member, in: link, group: chain.group)
            guard boxes.isEmpty || boxes.keys?.indexBox == indexBox.publicKey else { continue }
            for box in boxes.items where indexKeys.secrets[box.name] == nil {
                try collect(.indexBox, in: link, box.name) { () throws(GroupError) in
                    let key = try box.context.openIndexKey(
                        box.sealed.indexBox, with: indexBox,
                        commitment: box.epoch.indexCommitment, scratch: &scratch)
                    indexKeys.store(try key.withBytes(copy), as: box.name)
                }
            }
            indexKeys.examined.insert(link.name)
        }
        try follow(\.indexKeys, chain) { (upper, rungs) throws(GroupError) in
            let key = try IndexKeyOfEpoch(LabeledBox.copy(upper))
            for rung in rungs {
                try collect(.indexRung, in: rung.link, rung.name) { () throws(GroupError) in
                    let lower = try key.open(rung: rung.sealed.index, rung.context)
                    let commitment = lower.commitment(
                        compartment: rung.name.compartment, epoch: rung.context.epoch)
                    guard commitment == rung.epoch.indexCommitment else {
                        throw GroupError(SealingError.notAuthentic)
                    }
                    indexKeys.store(try lower.withBytes(copy), as: rung.name)
                }
            }
        }
    }

    /// Opens what new entries bring: index keys, and value secrets where the role reads values.
    package func update(
        with chain: MembershipChain, indexBox: borrowing SealedBox.KeyPair,
        valueBox: borrowing SealedBox.KeyPair
    ) throws(GroupError) {
        try update(with: chain, indexBox: indexBox)
        for link in chain.linksInOrder where !valueSecrets.examined.contains(link.name) {
            let boxes = SealedBoxes(of: member, in: link, group: chain.group)
            guard boxes.isEmpty || boxes.keys?.valueBox == valueBox.publicKey else { continue }
            for box in boxes.items where valueSecrets.secrets[box.name] == nil {
                guard let sealed = box.sealed.valueBox else { continue }
                try collect(.valueBox, in: link, box.name) { () throws(GroupError) in
                    let secret = try box.context.openValueSecret(
                        sealed, with: valueBox, publicKey: box.epoch.valueKey, scratch: &scratch)
                    valueSecrets.store(try secret.withSeed(copy), as: box.name)
                }
            }
            valueSecrets.examined.insert(link.name)
        }
        try follow(\.valueSecrets, chain) { (upper, rungs) throws(GroupError) in
            let secret = try ValueSecretOfEpoch(LabeledBox.copy(upper))
            for rung in rungs {
                try collect(.valueRung, in: rung.link, rung.name) { () throws(GroupError) in
                    let lower = try secret.open(
                        rung: rung.sealed.value, rung.context, scratch: &scratch)
                    guard lower.publicKey == rung.epoch.valueKey else {
                        throw GroupError(SealingError.notAuthentic)
                    }
                    valueSecrets.store(try lower.withSeed(copy), as: rung.name)
                }
            }
        }
    }

    /// Follows the rungs of all new epochs of one kind, down to the first epochs.
    private func follow(
        _ tier: ReferenceWritableKeyPath<EpochKeyRing, Tier>,
        _ chain: MembershipChain,
        _ open: (SecretSlice, [LowerRung]) throws(GroupError) -> Void
    ) throws(GroupError) {
        var unknown: [EpochName] = []
        while let name = self[keyPath: tier].unfollowed.popLast() {
            guard let link = chain.link(name.entry), let upper = self[keyPath: tier].secrets[name]
            else {
                unknown.append(name)
                continue
            }
            let rungs = LowerRung.rungs(of: name, in: link, chain: chain).filter {
                self[keyPath: tier].secrets[$0.name] == nil
            }
            guard !rungs.isEmpty else { continue }
            do throws(GroupError) { try open(upper, rungs) } catch {
                self[keyPath: tier].unfollowed += unknown + [name]
                throw error
            }
        }
        self[keyPath: tier].unfollowed = unknown
    }

    /// Runs `body`, and records a failure that the author of the entry is responsible for.
    private func collect(
        _ part: KeyProblem.Part, in link: MembershipChain.Link, _ name: EpochName,
        _ body: () throws(GroupError) -> Void
    ) throws(GroupError) {
        do throws(GroupError) { try body() } catch {
            guard error.code != .outOfMemory else { throw error }
            found.insert(
                KeyProblem(
                    entry: link.name, compartment: name.compartment, author: link.entry.author,
                    part: part))
        }
    }

    private func copy(_ bytes: RawSpan) throws(GroupError) -> SecretSlice {
        try sealing(try arena.copy(bytes))
    }
}
