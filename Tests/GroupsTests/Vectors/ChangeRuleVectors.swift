import Sealing
import Testing
import Vault

@testable import Groups

/// Changes that show each rule of sections 6.1 and 6.2.
struct ChangeRuleVectors {
    private let all = RuleVectors()
    private let alice = RuleVectors.alice
    private let bob = RuleVectors.bob
    private let carol = RuleVectors.carol
    private let dan = RuleVectors.dan
    private let first = RuleVectors.first
    private let second = RuleVectors.second
    private let nowhere = GroupHash(of: [7])

    static func all() throws -> [GroupVector] {
        let made = ChangeRuleVectors()
        try made.parts()
        try made.waiting()
        try made.authors()
        try made.chains()
        try made.roles()
        try made.records()
        try made.references()
        try made.versions()
        try made.widening()
        try made.orders()
        return try made.all.finished()
    }

    /// One of each kind of operation, which replaces what it must: the create of record 0, its value
    /// and an entry of the project.
    private func operations(
        on created: GroupHash, record: Int = 0
    ) -> [(kind: Int, operation: RecordOperation)] {
        let create = Op.ref(created)
        let version = Op.ref(created, 1)
        return [
            (1, Op.create(7)),
            (2, Op.value(record, seed: 5, replacing: record == 0 ? [version] : [])),
            (3, Op.of(record, replacing: [version], .choose(version))),
            (4, Op.of(record, replacing: [version], .remove)), (5, Op.of(record, .comment("c"))),
            (6, Op.of(record, .reminder(1))),
            (7, Op.of(record, replacing: [create], .type(.sensitive))),
            (8, Op.of(record, replacing: [create], .scope(Op.scope(1)))),
            (9, Op.of(record, replacing: [create], .name("OTHER"))),
            (10, Op.project(.projectName("web"))), (11, Op.project(Op.binding("prj_1"))),
            (12, Op.of(record, Op.claim(version))), (13, Op.of(record, .rotation(true))),
            (14, Op.settle("expired")),
        ]
    }

    /// A change by hand: seals any bytes under any key.
    private func sealed(
        _ header: ChangeHeader, _ padded: [UInt8], with key: TestEpoch, by signer: TestMember
    ) throws -> [UInt8] {
        var writer = ByteWriter()
        header.encode(into: &writer)
        let text = key.index.seal(padded, additionalData: writer.bytes)
        let bytes = writer.bytes + Layout.u32(text.count) + text + Layout.u32(0)
        return bytes + bytes.withBytes { signer.write.signature(of: $0) }
    }

    private func header(
        _ group: TestGroup, by author: TestMember, compartment: Identifier? = nil,
        epoch: UInt32 = 1,
        entry: GroupHash? = nil, number: UInt64 = 1, parents: [GroupHash] = [], chain: Int = 90
    ) -> ChangeHeader {
        ChangeHeader(
            key: .write, group: group.group, compartment: compartment ?? first, epoch: epoch,
            author: author.id, chain: TestRandom.identifier("chain", chain), counter: 1,
            before: .zero, entryNumber: number, entry: entry ?? group.head, parents: parents)
    }

    private func padded(_ operations: [RecordOperation]) -> [UInt8] {
        ChangeContent(createdAt: 1_700_000_000_000, batch: nil, operations: operations).padded()
    }

    // MARK: 6.1

    private func parts() throws {
        var story = try Story()
        let start = try story.write(alice, [Op.create(), Op.value()])
        var other = try Story(
            TestGroup(founder: bob, compartments: [first], others: [(alice, .member)]))
        let foreign = try other.write(bob, [Op.create(1)])
        story.keep(try #require(other.changes.first))
        let elsewhere = try sealed(
            header(story.group, by: alice, compartment: second), padded([Op.create(2)]),
            with: TestPool.epochs[0], by: alice)
        story.keep(elsewhere)
        story.waiting[GroupHash(of: elsewhere)] = nil
        try story.write(bob, [Op.create(3)], after: [foreign], waiting: .parents)
        try story.write(
            carol, [Op.create(4)], after: [GroupHash(of: elsewhere)], waiting: .parents)
        try story.write(carol, [Op.create(5)], after: [start], inNewChain: true)
        try all.changes("foreign", "changes of another group and another compartment", story)

        story = try Story()
        let bytes = try story.write(alice, [Op.create()])
        let cut = Array(story.changes[0].dropLast())
        story.changes = [cut]
        try story.write(bob, [Op.create(1)], after: [bytes], waiting: .parents)
        try story.write(
            bob, [Op.create(2)], after: [GroupHash(of: cut)], waiting: .parents, inNewChain: true)
        try all.changes("undecoded", "a change without its last byte", story)

        story = try Story()
        let key = try #require(story.group.keys(of: first, after: story.group.head))
        let closed: [(String, [UInt8])] = [
            (
                "key",
                try sealed(
                    header(story.group, by: alice), padded([Op.create()]),
                    with: TestPool.epochs[500], by: alice)
            ),
            (
                "padding",
                try sealed(
                    header(story.group, by: alice), padded([Op.create()]) + EntryVectors.zeros(128),
                    with: key, by: alice)
            ),
            (
                "operation",
                try sealed(
                    header(story.group, by: alice),
                    Layout.u32(14) + Layout.u64(1) + [0] + Layout.u32(1) + [99]
                        + EntryVectors.zeros(110), with: key, by: alice)
            ),
        ]
        for (name, object) in closed {
            var copy = story
            copy.keep(object)
            try copy.write(bob, [Op.create(1)], after: [GroupHash(of: object)], waiting: .parents)
            try all.changes("unopened-\(name)", "operations that do not open or decode", copy)
        }

        // Who lost an old key must not make changes of the new epoch with it.
        try story.remove(bob)
        let old = try sealed(
            header(story.group, by: alice, epoch: 2, number: 2), padded([Op.create()]), with: key,
            by: alice)
        story.keep(old)
        let new = try #require(story.group.keys(of: first, after: story.group.head))
        let early = try sealed(
            header(story.group, by: alice, epoch: 2, entry: story.group.group),
            padded([Op.create()]), with: new, by: alice)
        story.keep(early)
        let late = try sealed(
            header(story.group, by: alice, epoch: 1, number: 2), padded([Op.create()]), with: new,
            by: alice)
        story.keep(late, late: .epoch)
        let ahead = try sealed(
            header(story.group, by: alice, epoch: 2, entry: story.group.group),
            padded([Op.create()]), with: key, by: alice)
        story.keep(ahead, late: .epoch)
        try story.write(
            carol, [Op.create(1)], after: [GroupHash(of: late), GroupHash(of: ahead)].sorted())
        try story.write(
            carol, [Op.create(2)], after: [GroupHash(of: old)], waiting: .parents, inNewChain: true)
        try story.write(
            carol, [Op.create(3)], after: [GroupHash(of: early)], waiting: .parents,
            inNewChain: true)
        try all.changes(
            "index-key", "the key of the entry opens a change, whatever epoch it names", story)
    }

    private func waiting() throws {
        var story = try Story()
        let start = story.group.head
        try story.sign(.init(epochsFor: [second]))
        let refused = try story.group.makeEntry(
            .init(epochsFor: [first]), by: bob, previous: start, other: nil)
        story.strangers = [refused]
        story.refused = [refused: .author]
        let later = try story.group.makeEntry(
            .init(epochsFor: [first]), by: alice, previous: nowhere, other: nil
        ) { $0.with(number: 3, previous: nowhere) }
        let fork = try story.group.makeEntry(
            .init(epochsFor: [first]), by: alice, previous: start, other: nil
        ) { $0.with(number: 2, previous: nowhere) }
        story.strangers += [later, fork]
        story.waitingEntries = [later, fork]
        func named(_ entry: GroupHash, _ number: UInt64) -> (inout TestGroup.ChangeDraft) -> Void {
            {
                $0.entry = start
                $0.entryName = entry
                $0.entryNumber = number
            }
        }
        let cases: [(GroupHash, UInt64, WaitingReason)] = [
            (nowhere, 9, .entry), (nowhere, 2, .split), (start, 2, .entry), (start, 9, .entry),
            (GroupHash(of: refused), 2, .split), (GroupHash(of: later), 3, .entry),
            (GroupHash(of: fork), 2, .split), (GroupHash(of: fork), 7, .entry),
        ]
        var names: [GroupHash] = []
        for (place, (entry, number, reason)) in cases.enumerated() {
            names.append(
                try story.write(
                    alice, [Op.create(place)], waiting: reason, inNewChain: true,
                    named(entry, number)))
        }
        try story.write(alice, [Op.create(10)], waiting: .parents)
        try story.write(
            carol, [Op.create(11)], after: [nowhere], waiting: .parents, named(nowhere, 2))
        try story.write(
            carol, [Op.create(12)], after: [names[1]], waiting: .parents, inNewChain: true)
        story.keep(
            try sealed(
                header(story.group, by: bob, entry: nowhere, number: 2), padded([Op.create(13)]),
                with: TestPool.epochs[500], by: dan),
            waiting: .split)
        try all.changes("waiting", "changes that wait for an entry, or for one that waits", story)

        // The second compartment has its first epoch in entry 2.
        let object = try sealed(
            header(story.group, by: alice, compartment: second, entry: start),
            padded([Op.create()]),
            with: TestPool.epochs[0], by: alice)
        var other = Story(story.group, in: second)
        other.keep(object, waiting: .entry)
        let right = try other.write(alice, [Op.create(1)])
        try other.write(carol, [Op.create(2)], after: [GroupHash(of: object)], waiting: .parents)
        try other.write(carol, [Op.create(3)], after: [right], inNewChain: true)
        try all.changes("no-epoch", "the entry comes before the first epoch", other)
    }

    // MARK: 6.2

    private func authors() throws {
        var story = try Story()
        let start = story.group.head
        let other = try story.sign(.init(admissions: [dan.admission(.member)]))
        try story.remove(bob)
        try story.write(bob, [Op.create(1)], late: .member)
        try story.write(dan, [Op.create(2)], late: .member) { $0.entry = start }
        try story.write(dan, [Op.create(3)], inNewChain: true)
        try story.write(bob, [Op.create(4)], late: .cut, inNewChain: true) { $0.entry = other }
        try story.write(bob, [Op.create(5)], late: .member, inNewChain: true) {
            $0.signer = self.alice
        }
        try story.write(RuleVectors.eve, [Op.create(6)], late: .member)
        try all.changes("member", "authors who are unknown or removed after the entry", story)

        story = try Story()
        let weak = dan.keys.with(write: Point.one)
        try story.sign(.init(admissions: [dan.admission(keys: weak)]))
        try story.write(alice, [Op.create(1)], late: .signature) { $0.signer = self.bob }
        let header = header(story.group, by: alice, entry: story.group.head, number: 2, chain: 81)
        let key = try #require(story.group.keys(of: first, after: story.group.head))
        let object = try sealed(header, padded([Op.create(2)]), with: key, by: alice).dropLast(64)
        let signature = Array(object).withBytes { alice.authority.signature(of: $0) }
        // It says the write key.
        story.keep(object + signature, late: .signature)
        var chain = TestChain(dan, 80)
        let signed = try story.group.change(
            .init(compartment: first, operations: [Op.create(3)]), in: &chain)
        story.keep(Array(signed.dropLast(64)) + Point.signature, late: .signature)
        try all.changes(
            "signature", "other signatures, and one of everything for a key of low order", story)

        story = try Story()
        try story.setRole(bob, .member, limit: [second], cut: [])
        try story.write(bob, [Op.create(1)], late: .compartment)
        try story.write(bob, [Op.create(2)], late: .signature, inNewChain: true) {
            $0.signer = self.alice
        }
        try story.write(bob, [Op.create(3)], late: .compartment, inNewChain: true) { $0.epoch = 9 }
        try all.changes("compartment", "a member with another limit", story)
    }

    private func chains() throws {
        var story = try Story()
        let start = story.group.head
        let old = try story.write(alice, [Op.create()])
        let entry = try story.sign(.init(voidInvites: [dan.id]))
        let new = try story.write(alice, [Op.value()])
        try story.write(alice, [Op.value(seed: 1)], late: .pastEntry) { $0.entry = start }
        try story.write(bob, [Op.value(seed: 2)], after: [new], late: .pastEntry) {
            $0.entry = start
        }
        try story.write(bob, [Op.value(seed: 3)], after: [old], inNewChain: true) {
            $0.entry = start
        }
        try story.write(bob, [Op.value(seed: 4)], late: .pastEntry) {
            $0.entry = start
            $0.parents = [new]
        }
        try story.write(carol, [Op.value(seed: 5)], after: [new], late: .epoch, inNewChain: true) {
            $0.entry = start
            $0.epoch = 2
        }
        _ = entry
        try all.changes("past-entry", "an entry before that of a parent, or of before", story)

        story = try Story()
        let first = try story.write(alice, [Op.create()])
        let mine = try #require(story.chain(of: alice))
        func continued(
            _ member: TestMember, id: Identifier? = nil, counter: UInt64 = 1
        ) -> TestChain {
            TestChain(
                copying: TestChain(member, 0), id: id ?? mine.id, counter: counter, before: first)
        }
        for (place, chain) in [
            continued(bob), continued(alice, id: dan.id), continued(alice, counter: 2),
            continued(alice, counter: 6), continued(alice, counter: 1 << 63),
        ].enumerated() {
            story.continueChain(of: chain.member, with: chain)
            try story.write(chain.member, [Op.value(seed: place)], late: .chain)
        }
        story.continueChain(of: alice, with: mine)
        try story.write(alice, [Op.value(seed: 8)])
        try all.changes(
            "chain", "before is of another author or chain, or has another counter", story)
    }

    private func roles() throws {
        var story = try Story(bob: .writer, carol: .reader)
        let start = try story.write(alice, [Op.create(), Op.value()])
        for (kind, operation) in operations(on: start) {
            try story.write(
                bob, [operation], after: [start], late: kind < 3 ? nil : .role, inNewChain: true)
        }
        try story.write(bob, [], after: [start], inNewChain: true)
        try story.write(
            bob, [Op.create(9), Op.of(9, .comment("c"))], after: [start], late: .role,
            inNewChain: true)
        try story.write(carol, [], after: [start], late: .role)
        try story.write(carol, [Op.create(8)], after: [start], late: .role, inNewChain: true)
        try all.changes("role", "each operation of a writer, and changes of a reader", story)

        story = try Story()
        let again = try story.write(alice, [Op.create(), Op.value()])
        for (kind, operation) in operations(on: again) {
            let needs = [3, 9, 10, 11, 12, 13, 14].contains(kind)
            try story.write(
                bob, [operation], after: [again], late: needs ? .key : nil, inNewChain: true
            ) {
                $0.key = .write
            }
        }
        try all.changes("key", "each operation with the write key", story)

        story = try Story()
        let last = try story.write(alice, [Op.create(), Op.value()])
        for (_, operation) in operations(on: last) {
            try story.write(bob, [operation], after: [last], inNewChain: true) {
                $0.key = .authority
            }
        }
        try all.changes("authority", "each operation with the authority key", story)
    }

    private func records() throws {
        var story = try Story()
        let start = try story.write(alice, [Op.create(), Op.value()])
        for (kind, operation) in operations(on: start, record: 4) {
            try story.write(
                bob, [operation], after: [start],
                late: [1, 10, 11, 14].contains(kind) ? nil : .record, inNewChain: true
            ) { $0.key = .authority }
        }
        try story.write(alice, [Op.value(5), Op.create(5)], late: .record)
        try story.write(alice, [Op.create(6), Op.value(6)])
        try story.write(carol, [Op.value(6)], after: [start], late: .record)
        try all.changes("record", "each operation with a record that was not created before", story)

        story = try Story(carol: .writer)
        let base = try story.write(alice, [Op.create(), Op.value()])
        let breaks: [(String, GroupHash)] = [
            (
                "record",
                try story.write(bob, [Op.create(1), Op.value(9)], after: [base], late: .record)
            ),
            (
                "replaces",
                try story.write(
                    bob, [Op.create(2), Op.value(2, replacing: [Op.ref(base)])], after: [base],
                    late: .replaces, inNewChain: true)
            ),
            (
                "widening",
                try story.write(
                    bob, [Op.create(3), Op.of(replacing: [Op.ref(base)], .type(.plain))],
                    after: [base], late: .widening, inNewChain: true)
            ),
            (
                "role",
                try story.write(
                    carol, [Op.create(4), Op.of(4, .remove)], after: [base], late: .role)
            ),
            (
                "key",
                try story.write(
                    bob, [Op.create(5), Op.of(5, .rotation(true))], after: [base], late: .key,
                    inNewChain: true
                ) { $0.key = .write }
            ),
            (
                "signature",
                try story.write(
                    bob, [Op.create(6)], after: [base], late: .signature, inNewChain: true
                ) { $0.signer = self.alice }
            ),
        ]
        for (place, item) in breaks.enumerated() {
            try story.write(
                alice, [Op.value(place + 1, seed: place)], after: [item.1],
                late: place < 3 ? nil : .record, inNewChain: true)
        }
        // Nothing that counts or is effective creates records 1 to 3, so nothing shows them.
        try all.changes("record-late", "creates in late changes", story) {
            $0.records.map(\.id) == [Op.record(0)]
        }

        story = try Story()
        let created = try story.write(bob, [Op.create(1)])
        try story.write(carol, [Op.value(1)], after: [created])
        try story.remove(bob)
        story.late[created] = .cut
        story.effective = [created]
        try all.changes("record-cut", "a create that is late by a cut", story) {
            $0.records.count == 1
        }
    }

    private func references() throws {
        var story = try Story()
        let start = try story.write(
            alice, [Op.create(), Op.value(), Op.create(1), Op.of(.comment("c"))])
        let other = try story.write(carol, [Op.value(seed: 3)], after: [start])
        let bad: [(String, RecordOperation)] = [
            ("not of the past", Op.value(seed: 4, replacing: [Op.ref(other)])),
            ("unknown", Op.value(seed: 4, replacing: [Op.ref(nowhere)])),
            ("no such operation", Op.value(seed: 4, replacing: [Op.ref(start, 4)])),
            ("the largest number", Op.value(seed: 4, replacing: [Op.ref(start, .max)])),
            ("another record", Op.of(1, replacing: [Op.ref(start)], .type(.sensitive))),
            ("another thing", Op.value(seed: 4, replacing: [Op.ref(start, 3)])),
            ("a create", Op.value(seed: 4, replacing: [Op.ref(start)])),
            ("one of two", Op.value(seed: 4, replacing: [Op.ref(start, 1), Op.ref(start, 3)])),
            ("project", Op.project(replacing: [Op.ref(start)], .projectName("web"))),
        ]
        for (_, operation) in bad {
            try story.write(bob, [operation], after: [start], late: .replaces, inNewChain: true)
        }
        // Readers place changes of the same time in any order.
        let same = try story.write(
            bob, [Op.value(seed: 20)], after: [start], inNewChain: true)
        for (author, concurrent) in [(bob, other), (carol, same), (alice, same), (alice, other)] {
            try story.write(
                author, [Op.value(seed: 21, replacing: [Op.ref(concurrent)])], after: [start],
                late: .replaces, inNewChain: true)
        }
        let right = try story.write(
            bob, [Op.of(replacing: [Op.ref(start), Op.ref(start, 3)], .comment("d"))],
            after: [start], inNewChain: true)
        try story.write(
            bob, [Op.value(seed: 9, replacing: [Op.ref(start, 1), Op.ref(other)])],
            after: [right, other].sorted(), inNewChain: true)
        try all.changes("replaces", "what a change cannot replace", story)

        story = try Story(carol: .writer)
        let base = try story.write(alice, [Op.create(), Op.value()])
        let value = [Op.value(seed: 1, replacing: [Op.ref(base, 1)])]
        let breaks: [GroupHash] = [
            try story.write(bob, value + [Op.value(9)], after: [base], late: .record),
            try story.write(
                bob, value + [Op.value(seed: 2, replacing: [Op.ref(base)])], after: [base],
                late: .replaces, inNewChain: true),
            try story.write(
                bob, value + [Op.of(replacing: [Op.ref(base)], .type(.plain))], after: [base],
                late: .widening, inNewChain: true),
            try story.write(carol, value + [Op.of(.remove)], after: [base], late: .role),
            try story.write(
                bob, value + [Op.of(.rotation(true))], after: [base], late: .key, inNewChain: true
            ) { $0.key = .write },
            try story.write(bob, value, after: [base], late: .signature, inNewChain: true) {
                $0.signer = self.alice
            },
        ]
        for (place, item) in breaks.enumerated() {
            try story.write(
                alice, [Op.value(seed: 10 + place, replacing: [Op.ref(item)])], after: [item],
                late: place < 3 ? nil : .replaces, inNewChain: true)
            try story.write(
                alice, [Op.of(replacing: [Op.ref(base, 1)], .choose(Op.ref(item)))], after: [item],
                late: place < 3 ? nil : .replaces, inNewChain: true)
        }
        try all.changes("replaces-late", "what late changes assigned", story)
    }

    private func versions() throws {
        var story = try Story()
        let start = try story.write(
            alice,
            [Op.create(), Op.value(), Op.create(1), Op.value(1, seed: 1), Op.of(.comment("c"))])
        let chosen = try story.write(
            alice, [Op.of(replacing: [Op.ref(start, 1)], .choose(Op.ref(start, 1)))])
        let other = try story.write(carol, [Op.value(seed: 3)], after: [start])
        let bad = [
            Op.ref(start), Op.ref(start, 3), Op.ref(start, 4), Op.ref(start, 5), Op.ref(chosen),
            Op.ref(other), Op.ref(nowhere),
        ]
        for version in bad {
            try story.write(
                bob, [Op.of(.choose(version))], after: [chosen], late: .replaces, inNewChain: true)
            try story.write(
                bob, [Op.of(Op.claim(version))], after: [chosen], late: .replaces, inNewChain: true)
        }
        try story.write(
            bob, [Op.of(.choose(Op.ref(start, 1))), Op.of(Op.claim(Op.ref(start, 1)))],
            after: [chosen], inNewChain: true)
        try all.changes("version", "versions that are no values of the record's past", story)
    }

    private func widening() throws {
        let order: [VariableAttributes.Kind] = [.plain, .system, .secret, .encrypted, .sensitive]
        var story = try Story()
        let start = try story.write(alice, order.enumerated().map { Op.create($0, type: $1) })
        func type(_ number: Int, _ kind: VariableAttributes.Kind) -> [RecordOperation] {
            [Op.of(number, replacing: [Op.ref(start, UInt16(number))], .type(kind))]
        }
        for place in 1..<5 {
            try story.write(
                bob, type(place, order[place - 1]), after: [start], late: .widening,
                inNewChain: true)
            try story.write(bob, type(place - 1, order[place]), after: [start], inNewChain: true)
            try story.write(bob, type(place, order[place - 1]), after: [start], inNewChain: true) {
                $0.key = .authority
            }
        }
        try story.write(bob, type(2, order[2]), after: [start], inNewChain: true)
        try all.changes("weaker", "types from weak to strict, with both keys", story)

        story = try Story()
        let base = try story.write(alice, [Op.create(type: .plain)])
        let strict = try story.write(
            bob, [Op.of(replacing: [Op.ref(base)], .type(.sensitive))], after: [base])
        try story.write(
            carol, [Op.of(replacing: [Op.ref(base), Op.ref(strict)], .type(.secret))],
            after: [strict], late: .widening)
        try all.changes("weaker-one", "a type that is weaker than one of two", story)

        story = try Story()
        let scopes = try story.write(
            alice,
            [
                Op.create(0, Op.scope(3, ["a", "b"])), Op.create(1, Op.scope(2, branch: "main")),
            ])
        func scope(_ number: Int, _ scope: Scope) -> [RecordOperation] {
            [Op.of(number, replacing: [Op.ref(scopes, UInt16(number))], .scope(scope))]
        }
        let cases: [(Int, Scope, Bool)] = [
            (0, Op.scope(7, ["a", "b"]), true), (0, Op.scope(4), true),
            (0, Op.scope(3, ["a", "c"]), true),
            (0, Op.scope(1, ["a"], branch: "main"), true), (0, Op.scope(1), false),
            (0, Op.scope(0, ["b"]), false),
            (0, Op.scope(3, ["a", "b"]), false), (1, Op.scope(2), true),
            (1, Op.scope(2, branch: "dev"), true),
            (1, Op.scope(2, branch: "main"), false),
        ]
        for (number, new, isWider) in cases {
            try story.write(
                bob, scope(number, new), after: [scopes], late: isWider ? .widening : nil,
                inNewChain: true)
            try story.write(bob, scope(number, new), after: [scopes], inNewChain: true) {
                $0.key = .authority
            }
        }
        try all.changes("wider", "scopes that include each other or not, with both keys", story)
    }

    /// Changes that break two rules: the first one in the table is the reason.
    private func orders() throws {
        var story = try Story(bob: .writer)
        let start = try story.write(alice, [Op.create(), Op.value()])
        let entry = story.group.head
        try story.sign(.init(voidInvites: [dan.id]))
        let new = try story.write(alice, [Op.value(seed: 1)])
        let mine = try #require(story.chain(of: alice))
        let foreign = TestChain(copying: TestChain(bob, 0), id: mine.id, counter: 2, before: new)
        story.continueChain(of: bob, with: foreign)
        try story.write(bob, [], late: .pastEntry) { $0.entry = entry }
        story.continueChain(of: bob, with: foreign)
        try story.write(bob, [Op.of(.remove)], late: .chain)
        try story.write(
            bob, [Op.of(.rotation(true))], after: [start], late: .role, inNewChain: true
        ) { $0.key = .write }
        try story.write(carol, [Op.of(9, .rotation(true))], after: [start], late: .key) {
            $0.key = .write
        }
        try story.write(
            carol, [Op.value(9), Op.value(replacing: [Op.ref(start)])], after: [start],
            late: .record, inNewChain: true)
        try story.write(
            carol, [Op.value(replacing: [Op.ref(start)]), Op.value(9)], after: [start],
            late: .record, inNewChain: true)
        try story.write(
            carol,
            [
                Op.of(replacing: [Op.ref(start)], .type(.plain)),
                Op.value(replacing: [Op.ref(start)]),
            ], after: [start], late: .replaces, inNewChain: true)
        try story.write(carol, [Op.create(5)], after: [start], late: .signature, inNewChain: true) {
            $0.signer = self.alice
            $0.epoch = 3
        }
        try story.write(carol, [Op.create(6)], after: [new], late: .epoch, inNewChain: true) {
            $0.epoch = 3
            $0.entry = entry
        }
        try all.changes("orders", "changes that break two rules", story)
    }
}
