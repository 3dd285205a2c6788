import Sealing
import Testing
import Vault

@testable import Groups

/// Entries with real boxes and rungs, and which keys a member can open with them (section 3.5).
struct KeyVectors {
    private let alice = RuleVectors.alice
    private let bob = RuleVectors.bob
    private let carol = RuleVectors.carol
    private let dan = RuleVectors.dan
    private let eve = RuleVectors.eve
    private let first = RuleVectors.first
    private let second = RuleVectors.second

    static func all() throws -> [GroupVector] {
        let made = KeyVectors()
        return try made.right() + made.wrongBoxes() + made.wrongRungs()
    }

    /// What a ring finds, in the form of a vector.
    static func expected(
        of member: Identifier, in chain: MembershipChain, indexSeed: [UInt8], valueSeed: [UInt8]
    ) throws -> [String: Any] {
        let ring = try EpochKeyRing(member: member)
        let index = try SealedBox.KeyPair(seed: TestRandom.secret(indexSeed))
        let value = try SealedBox.KeyPair(seed: TestRandom.secret(valueSeed))
        try ring.update(with: chain, indexBox: index, valueBox: value)
        var (indexKeys, valueSecrets): ([String: String], [String: String]) = ([:], [:])
        for name in ring.epochs {
            let place = "\(name.compartment.hexadecimal):\(name.entry.hexadecimal)"
            func text(_ bytes: RawSpan) -> String {
                GroupVector.hexadecimal((0..<bytes.byteCount).map { bytes.byte(at: $0) })
            }
            indexKeys[place] = try ring.withIndexKey(of: name.compartment, madeBy: name.entry) {
                $0.withBytes(text)
            }
            valueSecrets[place] = try ring.withValueSecret(
                of: name.compartment, madeBy: name.entry
            ) { $0.withSeed(text) }
        }
        let problems = ring.problems.map {
            [$0.entry.hexadecimal, $0.compartment.hexadecimal, $0.part.rawValue]
        }
        return ["indexKeys": indexKeys, "valueSecrets": valueSecrets, "problems": problems]
    }

    private func vector(
        _ name: String, _ description: String, _ group: TestGroup, for member: TestMember,
        keys: TestMember? = nil, of id: Identifier? = nil,
        shows: (index: Int, value: Int, problems: Int)
    ) throws -> GroupVector {
        let objects = Array(group.objects.values)
        let chain = RuleVectors.chain(group.group, objects)
        guard chain.refused.isEmpty, chain.waiting.isEmpty else {
            throw ModelFinding("keys-\(name): \(Set(chain.refused.values))")
        }
        let seeds = (keys ?? member).seeds
        let expected = try Self.expected(
            of: id ?? member.id, in: chain, indexSeed: seeds[2], valueSeed: seeds[3])
        let found = (
            (expected["indexKeys"] as? [String: String])?.count,
            (expected["valueSecrets"] as? [String: String])?.count,
            (expected["problems"] as? [[String]])?.count
        )
        guard found.0 == shows.index, found.1 == shows.value, found.2 == shows.problems else {
            throw ModelFinding("keys-\(name) shows \(found)")
        }
        return GroupVector(
            name: "keys-\(name)", description: description,
            input: [
                "kind": "keys", "group": group.group.hexadecimal,
                "member": (id ?? member.id).hexadecimal,
                "indexBoxSeed": GroupVector.hexadecimal(seeds[2]),
                "valueBoxSeed": GroupVector.hexadecimal(seeds[3]),
                "entries": objects.map(GroupVector.hexadecimal).sorted(),
            ], result: "ok", expected: expected)
    }

    private func group(_ others: [(TestMember, GroupRole)]? = nil) throws -> TestGroup {
        try TestGroup(
            founder: alice, compartments: [first],
            others: others ?? [(bob, .member), (carol, .writer)], sealsBoxes: true)
    }

    private var next: TestGroup.Draft { .init(epochsFor: [first]) }

    private func right() throws -> [GroupVector] {
        var vectors: [GroupVector] = []
        var group = try group()
        vectors.append(
            try vector("first", "the boxes of entry 1", group, for: bob, shows: (1, 1, 0)))
        vectors.append(
            try vector("writer", "no value box for a writer", group, for: carol, shows: (1, 0, 0)))
        vectors.append(try vector("stranger", "no boxes at all", group, for: dan, shows: (0, 0, 0)))
        vectors.append(
            try vector(
                "other-seeds", "seeds that do not give the member's keys", group, for: bob,
                keys: dan, shows: (0, 0, 0)))
        try group.add(.init(epochsFor: [first, second]), by: alice)
        vectors.append(
            try vector("boxes", "boxes of each epoch", group, for: bob, shows: (3, 3, 0)))
        var grown = group
        try grown.add(.init(admissions: [dan.admission(.reader)]), by: alice)
        vectors.append(
            try vector(
                "grants", "the grants of an admission, and rungs from them", grown, for: dan,
                shows: (3, 3, 0)))
        try grown.add(next, by: alice)
        vectors.append(
            try vector(
                "rungs", "boxes of the newest epoch and rungs", grown, for: dan, shows: (4, 4, 0)))
        var raised = group
        try raised.add(
            .init(roles: [RoleChange(member: carol.id, rights: MemberRights(role: .member))]),
            by: alice)
        vectors.append(
            try vector(
                "raise", "a writer becomes a member: values of the past, by rungs", raised,
                for: carol, shows: (3, 3, 0)))
        try group.add(.init(removals: [Removal(member: bob.id, cut: Cut())]), by: alice)
        vectors.append(
            try vector(
                "removed", "nothing of the epochs after a removal", group, for: bob,
                shows: (3, 3, 0)))
        var replaced = try self.group()
        let old = try #require(replaced.chain.heads.first)
        try replaced.add(
            .init(keyReplacements: [KeyReplacement(member: bob.id, keys: eve.keys, cut: Cut())]),
            by: alice)
        vectors.append(
            try vector(
                "replaced", "old keys open the boxes before, and no more", replaced, for: bob,
                shows: (1, 1, 0)))
        vectors.append(
            try vector(
                "replacing", "new keys open the boxes since, and rungs", replaced, for: eve,
                of: bob.id, shows: (2, 2, 0)))
        _ = old
        var fork = try self.group([(bob, .admin), (carol, .writer)])
        let start = fork.head
        try fork.add(
            .init(admissions: [dan.admission(.member)], epochsFor: [first]), by: alice, after: start
        )
        try fork.add(.init(epochsFor: [first]), by: bob, after: start)
        vectors.append(
            try vector("fork", "the epochs of both sides", fork, for: carol, shows: (3, 0, 0)))
        vectors.append(
            try vector("fork-one", "the epochs of one side", fork, for: dan, shows: (2, 2, 0)))
        let sides = fork.sides
        try fork.add(.init(), by: alice, after: sides[0], joining: sides[1])
        vectors.append(
            try vector("joined", "two rungs of a joining entry", fork, for: dan, shows: (4, 4, 0)))
        return vectors
    }

    /// An epoch whose boxes for a member are others.
    private func wrong(
        _ name: String, _ description: String, shows: (Int, Int, Int),
        _ change: (SealedKeys, NewEpoch, TestGroup, TestEpoch) throws -> SealedKeys
    ) throws -> GroupVector {
        var group = try group()
        let keys = try nextKeys(group)
        let base = group
        var failure: (any Error)?
        let object = try group.makeEntry(next, by: alice, previous: group.head, other: nil) {
            entry in
            entry.epochs { epoch in
                epoch.with(
                    recipients: epoch.recipients.map { recipient in
                        guard recipient.member == bob.id else { return recipient }
                        do {
                            return .init(
                                member: bob.id, keys: try change(recipient.keys, epoch, base, keys))
                        } catch {
                            failure = error
                            return recipient
                        }
                    })
            }
        }
        if let failure { throw failure }
        try group.insert(object)
        return try vector(name, description, group, for: bob, shows: shows)
    }

    /// The keys of the epoch that the group makes next.
    private func nextKeys(_ group: TestGroup) throws -> TestEpoch {
        var copy = group
        let object = try copy.makeEntry(next, by: alice, previous: copy.head, other: nil)
        return try #require(copy.epochs[.init(compartment: first, entry: GroupHash(of: object))])
    }

    private func wrongBoxes() throws -> [GroupVector] {
        func context(
            _ group: GroupHash, entry: UInt64 = 2, compartment: Identifier? = nil,
            epoch: UInt32 = 2,
            recipient: Identifier? = nil
        ) -> BoxContext {
            BoxContext(
                group: group, entry: entry, compartment: compartment ?? first, epoch: epoch,
                recipient: recipient ?? bob.id)
        }
        func sealed(_ context: BoxContext, _ keys: TestEpoch, to member: TestMember? = nil) throws
            -> SealedKeys
        {
            try context.seal(keys.index, keys.value, to: (member ?? bob).keys, readsValues: true)
        }
        var vectors: [GroupVector] = []
        let contexts: [(String, String, (GroupHash) -> BoxContext)] = [
            ("group", "boxes that name another group", { _ in context(GroupHash(of: [1])) }),
            ("zeros", "boxes that name zeros, as in entry 1", { _ in context(.zero) }),
            ("entry", "boxes that name another entry number", { context($0, entry: 1) }),
            (
                "compartment", "boxes that name another compartment",
                { context($0, compartment: second) }
            ),
            ("epoch", "boxes that name another epoch", { context($0, epoch: 1) }),
            (
                "recipient", "boxes that name another recipient",
                { context($0, recipient: carol.id) }
            ),
        ]
        for (name, description, make) in contexts {
            vectors.append(
                try wrong(name, description, shows: (1, 1, 2)) { try sealed(make($2.group), $3) })
        }
        vectors.append(
            try wrong("sealed-to", "boxes for the keys of another member", shows: (1, 1, 2)) {
                try sealed(context($2.group), $3, to: carol)
            })
        vectors.append(
            try wrong("swapped", "index box and value box swapped", shows: (1, 1, 2)) {
                keys, _, _, _ in
                SealedKeys(indexBox: keys.valueBox ?? [], valueBox: keys.indexBox)
            })
        vectors.append(
            try wrong("index-swapped", "the index box is another member's", shows: (1, 2, 1)) {
                keys, epoch, _, _ in
                SealedKeys(
                    indexBox: epoch.keys(of: carol.id)?.indexBox ?? [], valueBox: keys.valueBox)
            })
        vectors.append(
            try wrong("value-swapped", "the value box is another member's", shows: (2, 1, 1)) {
                keys, epoch, _, _ in
                SealedKeys(indexBox: keys.indexBox, valueBox: epoch.keys(of: alice.id)?.valueBox)
            })
        vectors.append(
            try wrong("index-to-value", "the index box is for the value box key", shows: (1, 2, 1))
            { keys, _, group, epoch in
                let to = bob.keys.with(indexBox: bob.keys.valueBox)
                let other = try context(group.group).seal(
                    epoch.index, epoch.value, to: to, readsValues: true)
                return SealedKeys(indexBox: other.indexBox, valueBox: keys.valueBox)
            })
        vectors.append(
            try wrong("value-to-index", "the value box is for the index box key", shows: (2, 1, 1))
            { keys, _, group, epoch in
                let to = bob.keys.with(valueBox: bob.keys.indexBox)
                let other = try context(group.group).seal(
                    epoch.index, epoch.value, to: to, readsValues: true)
                return SealedKeys(indexBox: keys.indexBox, valueBox: other.valueBox)
            })
        vectors.append(
            try wrong("other-keys", "the keys of another epoch", shows: (1, 1, 2)) {
                _, _, group, _ in
                try sealed(context(group.group), TestPool.epochs[500])
            })
        vectors.append(
            try wrong("changed", "changed boxes", shows: (1, 1, 2)) { keys, _, _, _ in
                func flipped(_ box: [UInt8]) -> [UInt8] { Array(box.dropLast()) + [box[171] ^ 1] }
                return SealedKeys(
                    indexBox: flipped(keys.indexBox), valueBox: keys.valueBox.map(flipped))
            })
        vectors.append(
            try wrong("zero-boxes", "zeros instead of boxes", shows: (1, 1, 2)) { _, _, _, _ in
                .zeros(readsValues: true)
            })
        vectors.append(
            try changed("commitment", "another commitment", shows: (1, 2, 1)) {
                $0.with(commitment: GroupHash(of: [1]))
            })
        vectors.append(
            try changed("value-key", "another value public key", shows: (2, 1, 1)) {
                $0.with(valueKey: TestPool.epochs[500].valueKey)
            })
        vectors.append(
            try changed("commitment-epoch", "the commitment of another number", shows: (1, 2, 1)) {
                $0.with(
                    commitment: TestPool.epochs[1].index.commitment(compartment: first, epoch: 1))
            })
        return vectors + (try wrongGrants())
    }

    private func changed(
        _ name: String, _ description: String, shows: (Int, Int, Int),
        _ change: (NewEpoch) -> NewEpoch
    ) throws -> GroupVector {
        var group = try group()
        let object = try group.makeEntry(next, by: alice, previous: group.head, other: nil) {
            $0.epochs(change)
        }
        try group.insert(object)
        return try vector(name, description, group, for: bob, shows: shows)
    }

    private func wrongGrants() throws -> [GroupVector] {
        var group = try group()
        let keys = try #require(group.keys(of: first, after: group.head))
        let draft = TestGroup.Draft(admissions: [dan.admission(.reader)])
        var vectors: [GroupVector] = []
        let contexts: [(String, String, UInt64, TestEpoch)] = [
            ("grant-entry", "a grant that names the entry that made the epoch", 1, keys),
            ("grant-keys", "a grant of other keys", 2, TestPool.epochs[500]),
        ]
        for (name, description, entry, epoch) in contexts {
            var copy = group
            let context = BoxContext(
                group: group.group, entry: entry, compartment: first, epoch: 1, recipient: dan.id)
            let sealed = try context.seal(epoch.index, epoch.value, to: dan.keys, readsValues: true)
            let object = try copy.makeEntry(draft, by: alice, previous: copy.head, other: nil) {
                entry in
                entry.grants {
                    $0.map { Grant(compartment: $0.compartment, epoch: $0.epoch, keys: sealed) }
                }
            }
            try copy.insert(object)
            vectors.append(try vector(name, description, copy, for: dan, shows: (0, 0, 2)))
        }
        // A grant that does not open, and a later epoch whose rungs lead to the same keys.
        let object = try group.makeEntry(draft, by: alice, previous: group.head, other: nil) {
            entry in
            entry.grants {
                $0.map {
                    Grant(
                        compartment: $0.compartment, epoch: $0.epoch,
                        keys: .zeros(readsValues: true))
                }
            }
        }
        try group.insert(object)
        try group.add(next, by: alice)
        vectors.append(
            try vector(
                "grant-rung", "a wrong grant, and rungs to the same keys", group, for: dan,
                shows: (2, 2, 2)))
        return vectors
    }

    private func wrongRungs() throws -> [GroupVector] {
        func made(
            _ name: String, _ description: String, shows: (Int, Int, Int),
            _ change: (NewEpoch.Rung, TestGroup, TestEpoch, TestEpoch) throws -> NewEpoch.Rung
        ) throws -> GroupVector {
            var group = try group()
            let old = try #require(group.keys(of: first, after: group.head))
            // Whoever is admitted with the new epoch has the old one by its rung only.
            let draft = TestGroup.Draft(admissions: [dan.admission(.reader)], epochsFor: [first])
            let new = try nextKeys(group)
            let base = group
            var failure: (any Error)?
            let object = try group.makeEntry(draft, by: alice, previous: group.head, other: nil) {
                entry in
                entry.epochs { epoch in
                    epoch.with(
                        rungs: epoch.rungs.map { rung in
                            do { return try change(rung, base, old, new) } catch {
                                failure = error
                                return rung
                            }
                        })
                }
            }
            if let failure { throw failure }
            try group.insert(object)
            return try vector(name, description, group, for: dan, shows: shows)
        }
        func rung(
            _ entry: GroupHash, _ context: RungContext, _ old: TestEpoch, _ new: TestEpoch
        ) throws -> NewEpoch.Rung {
            NewEpoch.Rung(
                entry: entry, index: try new.index.rung(for: old.index, context),
                value: try ValueSecretOfEpoch.rung(for: old.value, to: new.valueKey, context))
        }
        var vectors = [
            try made("rung", "right rungs", shows: (2, 2, 0)) { rung, _, _, _ in rung },
            try made("rung-zeros", "zeros instead of rungs", shows: (1, 1, 2)) { rung, _, _, _ in
                .zeros(rung.entry)
            },
            try made("rung-keys", "rungs with other keys", shows: (1, 1, 2)) { old, group, _, new in
                try rung(
                    old.entry, RungContext(group: group.group, compartment: first, epoch: 1),
                    TestPool.epochs[500], new)
            },
            try made("rung-under", "rungs under the old keys", shows: (1, 1, 2)) {
                was, group, old, _ in
                try rung(
                    was.entry, RungContext(group: group.group, compartment: first, epoch: 1), old,
                    old)
            },
            try made("rung-index", "a wrong index rung", shows: (1, 2, 1)) { rung, _, _, _ in
                .init(entry: rung.entry, index: [UInt8](repeating: 1, count: 72), value: rung.value)
            },
            try made("rung-value", "a wrong value rung", shows: (2, 1, 1)) { rung, _, _, _ in
                .init(
                    entry: rung.entry, index: rung.index, value: [UInt8](repeating: 1, count: 148))
            },
        ]
        let contexts: [(String, (GroupHash) -> RungContext)] = [
            ("group", { _ in RungContext(group: .zero, compartment: first, epoch: 1) }),
            ("compartment", { RungContext(group: $0, compartment: second, epoch: 1) }),
            ("epoch", { RungContext(group: $0, compartment: first, epoch: 2) }),
        ]
        for (name, make) in contexts {
            vectors.append(
                try made("rung-\(name)", "rungs that name another \(name)", shows: (1, 1, 2)) {
                    try rung($0.entry, make($1.group), $2, $3)
                })
        }
        return vectors
    }
}
