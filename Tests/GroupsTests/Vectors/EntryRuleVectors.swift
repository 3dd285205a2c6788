import Testing
import Vault

@testable import Groups

/// Memberships that show each rule of entries (section 3.1) with more than one cause.
struct EntryRuleVectors {
    private let all = RuleVectors()
    private let alice = RuleVectors.alice
    private let bob = RuleVectors.bob
    private let carol = RuleVectors.carol
    private let dan = RuleVectors.dan
    private let eve = RuleVectors.eve
    private let first = RuleVectors.first
    private let second = RuleVectors.second

    static func all() throws -> [GroupVector] {
        let made = EntryRuleVectors()
        try made.places()
        try made.numbers()
        try made.authors()
        try made.joins()
        try made.members()
        try made.keys()
        try made.invites()
        try made.admins()
        try made.changes()
        try made.cuts()
        try made.epochs()
        try made.recipients()
        try made.grants()
        try made.orders()
        return try made.all.finished()
    }

    private func group(
        bob role: GroupRole = .member, carol: GroupRole = .reader, oneAdmin: Bool = false
    ) throws -> TestGroup {
        try TestGroup(
            founder: alice, compartments: [first], others: [(bob, role), (self.carol, carol)],
            hasOneAdmin: oneAdmin)
    }

    /// A new epoch, which any admin may make.
    private var plain: TestGroup.Draft { .init(epochsFor: [first]) }

    /// Adds an entry that is refused.
    private func refuse(
        _ name: String, _ description: String, _ reason: EntryRefusal, in group: TestGroup? = nil,
        _ draft: TestGroup.Draft? = nil, by author: TestMember? = nil, as id: Identifier? = nil,
        joining: Bool = false, _ change: (Entry) -> Entry = { $0 }
    ) throws {
        var group = try group ?? self.group()
        let sides = group.sides
        let object = try group.makeEntry(
            draft ?? (joining ? .init() : plain), by: author ?? alice, as: id,
            previous: sides[0], other: joining ? sides[1] : nil, change)
        try all.entries(
            "\(reason.rawValue)-\(name)", description, of: group, with: [object],
            refused: [object: reason])
    }

    /// Adds an entry that is valid.
    private func accept(
        _ name: String, _ description: String, in group: TestGroup? = nil,
        _ draft: TestGroup.Draft? = nil, joining: Bool = false,
        _ change: (Entry) -> Entry = { $0 }
    ) throws {
        var group = try group ?? self.group()
        let sides = group.sides
        let object = try group.makeEntry(
            draft ?? (joining ? .init() : plain), by: alice, previous: sides[0],
            other: joining ? sides[1] : nil, change)
        try group.insert(object)
        try all.entries("ok-\(name)", description, of: group)
    }

    /// Two entries after the same one.
    private func forked(
        _ left: TestGroup.Draft, _ right: TestGroup.Draft, by author: TestMember? = nil,
        in group: TestGroup? = nil
    ) throws -> TestGroup {
        var group = try group ?? self.group(bob: .admin)
        let start = group.head
        try group.add(left, by: alice, after: start)
        try group.add(right, by: author ?? bob, after: start)
        return group
    }

    private func removal(_ member: TestMember) -> TestGroup.Draft {
        .init(removals: [Removal(member: member.id, cut: Cut())])
    }

    private func role(
        _ member: TestMember, _ role: GroupRole, limit: [Identifier]? = nil, cut: Bool = false
    ) -> TestGroup.Draft {
        .init(roles: [
            RoleChange(
                member: member.id, rights: MemberRights(role: role, limit: limit),
                cut: cut ? Cut() : nil)
        ])
    }

    private func replacement(
        _ member: TestMember, by keys: MemberKeys? = nil
    ) -> TestGroup.Draft {
        .init(keyReplacements: [
            KeyReplacement(member: member.id, keys: keys ?? eve.keys, cut: Cut())
        ])
    }

    private func admitting(_ admissions: Admission...) -> TestGroup.Draft {
        .init(admissions: admissions)
    }

    // MARK: Steps 1 and 2

    private func places() throws {
        let base = try group()
        let stranger = try TestGroup(founder: bob, compartments: [first])
        let foreign = Array(stranger.objects.values)
        try all.entries(
            "group-first", "entry 1 of another group", of: base, with: foreign,
            refused: [foreign[0]: .group])
        try refuse("other", "an entry of another group", .group) {
            $0.with(group: stranger.group)
        }
        let missing = GroupHash(of: [7])
        try refuse("missing", "an entry of another group whose previous is missing", .group) {
            $0.with(group: stranger.group, previous: missing)
        }
        var group = base
        let refused = try group.makeEntry(plain, by: alice, previous: group.head, other: nil) {
            $0.with(number: 9)
        }
        let after = GroupHash(of: refused)
        func made(_ change: @escaping (Entry) -> Entry) throws -> [UInt8] {
            var copy = group
            return try copy.makeEntry(
                .init(epochsFor: [second]), by: alice, previous: copy.head, other: nil, change)
        }
        let foreignAfter = try made { $0.with(group: stranger.group, previous: after) }
        try all.entries(
            "group-previous", "an entry of another group after a refused one", of: group,
            with: [refused, foreignAfter], refused: [refused: .number, foreignAfter: .group])
        let cases: [(String, String, [UInt8])] = [
            ("refused", "after a refused entry", try made { $0.with(previous: after) }),
            ("other", "joins a refused entry", try made { $0.with(other: after) }),
            (
                "refused-missing", "joins a refused entry and a missing one",
                try made { $0.with(previous: after, other: missing) }
            ),
            (
                "missing-refused", "joins a missing entry and a refused one",
                try made { $0.with(previous: missing, other: after) }
            ),
        ]
        for (name, description, object) in cases {
            try all.entries(
                "previous-\(name)", description, of: group, with: [refused, object],
                refused: [refused: .number, object: .previous])
        }
        let waits = try made { $0.with(previous: missing) }
        let waitsAgain = try made { $0.with(number: 3, previous: GroupHash(of: waits)) }
        let waitsForOther = try made { $0.with(other: missing) }
        try all.entries(
            "waiting", "a missing previous, a missing other, and one after an entry that waits",
            of: group, with: [waits, waitsAgain, waitsForOther],
            waiting: [waits, waitsAgain, waitsForOther])
        try all.entries(
            "ignored", "bytes that are not an entry", of: group,
            with: [Array(waits.dropLast()), [1, 2, 3]])
        let blocked = try made { $0.with(previous: GroupHash(of: waits), other: after) }
        try all.entries(
            "previous-waiting", "joins a waiting entry and a refused one", of: group,
            with: [refused, waits, blocked],
            refused: [refused: .number, blocked: .previous], waiting: [waits])
    }

    private func numbers() throws {
        try refuse("more", "the previous number plus 2", .number) { $0.with(number: 3) }
        try refuse("most", "the largest number", .number) { $0.with(number: .max) }
        let fork = try forked(plain, .init(epochsFor: [second]))
        let long = try { () throws -> TestGroup in
            var group = fork
            try group.add(.init(epochsFor: [second]), by: alice, after: fork.sides[0])
            return group
        }()
        let base = try #require(fork.chain.link(fork.sides[0])?.entry.previous)
        try refuse("same", "joins an entry with itself", .number, in: fork, joining: true) {
            $0.with(other: $0.previous)
        }
        try refuse("past", "joins an entry with one in its past", .number, in: fork, joining: true)
        { $0.with(other: base) }
        try refuse(
            "descendant", "joins an entry with one that follows", .number, in: fork, joining: true
        ) { $0.with(previous: base, other: fork.sides[0]) }
        try refuse("joining-more", "joins with a number too high", .number, in: fork, joining: true)
        { $0.with(number: 4) }
        try refuse("higher-hash", "the higher hash as previous", .number, in: fork, joining: true) {
            $0.with(previous: fork.sides[1], other: fork.sides[0])
        }
        try refuse("lower-number", "the lower number as previous", .number, in: long, joining: true)
        { $0.with(previous: long.sides[1], other: long.sides[0]) }
        try refuse("of-lower", "the lower of both numbers plus 1", .number, in: long, joining: true)
        { $0.with(number: 3) }
        try accept("join-lower-hash", "the lower hash as previous", in: fork, joining: true)
        try accept("join-higher-number", "the higher number as previous", in: long, joining: true)
    }

    private func authors() throws {
        try refuse("unknown", "signed by nobody that is known", .author, by: dan)
        try refuse("member", "signed by a member", .author, by: bob)
        var group = try group(bob: .admin)
        try group.add(removal(bob), by: alice)
        try refuse("removed", "signed by an admin who was removed", .author, in: group, by: bob)
        for (name, role) in [("first-missing", GroupRole?.none), ("first-member", .member)] {
            let others = role.map { [alice.admission($0)] } ?? []
            var copy = group
            let object = try copy.makeEntry(
                .init(admissions: [bob.admission(.admin)] + others), by: alice, previous: nil,
                other: nil)
            try all.entries(
                "author-\(name)", "entry 1 of an author who does not make themselves an admin",
                of: copy.emptied, with: [object], group: GroupHash(of: object),
                refused: [object: .author])
        }
        for (name, draft) in [
            ("lowered", role(bob, .member, cut: true)), ("removed-once", removal(bob)),
            ("replaced", replacement(bob)),
        ] {
            let fork = try forked(plain, draft, by: alice, in: self.group(bob: .admin))
            try refuse(
                "joining-\(name)", "joins, and is no admin with one key on both sides", .author,
                in: fork, by: bob, joining: true)
            let later = try { () throws -> TestGroup in
                var copy = fork
                let side = copy.sides.first {
                    copy.chain.link($0)?.state.members[bob.id]
                        == copy.chain.link(copy.group)?.state.members[bob.id]
                }
                try copy.add(plain, by: alice, after: side)
                return copy
            }()
            try refuse(
                "joining-\(name)-other", "the same with the other side as previous", .author,
                in: later, by: bob, joining: true)
        }
        try signatures()
    }

    private func signatures() throws {
        try refuse(
            "other", "signed by another admin than it says", .signature,
            in: group(bob: .admin), by: bob, as: alice.id)
        let fork = try forked(plain, .init(epochsFor: [second]))
        try refuse(
            "joining", "joins, signed by another admin", .signature, in: fork, by: bob,
            as: alice.id,
            joining: true)
        var group = try group()
        var object = try group.makeEntry(plain, by: alice, previous: group.head, other: nil)
        object[object.count - 40] ^= 1
        try all.entries(
            "signature-changed", "a changed signature", of: group, with: [object],
            refused: [object: .signature])
        // The first half is the base point, the second half is 1: with a key of low order that is
        // a signature of everything for who does not check the key.
        let weak = try group.makeEntry(
            .init(admissions: [alice.admission(.admin, keys: alice.keys.with(authority: Point.one))]
            ),
            by: alice, previous: nil, other: nil)
        let forged = Array(weak.dropLast(64)) + Point.signature
        try all.entries(
            "signature-low-order", "an authority key of low order, with a signature of everything",
            of: group.emptied, with: [forged], group: GroupHash(of: forged),
            refused: [forged: .signature])
    }

    private func joins() throws {
        let fork = try forked(plain, .init(epochsFor: [second]))
        let items: [(String, TestGroup.Draft)] = [
            ("admission", admitting(dan.admission(.reader))), ("role", role(carol, .member)),
            ("removal", removal(carol)), ("replacement", replacement(carol)),
            ("void", .init(voidInvites: [dan.id])),
        ]
        for (name, draft) in items {
            try refuse(name, "joins, with one more item", .join, in: fork, draft, joining: true)
        }
    }

    private func members() throws {
        try refuse(
            "used", "admits with the id of a member", .member,
            admitting(dan.admission(.reader, id: bob.id)))
        var group = try group()
        try group.add(removal(bob), by: alice)
        try refuse(
            "used-removed", "admits with the id of a member who was removed", .member, in: group,
            admitting(dan.admission(.reader, id: bob.id)))
        try accept(
            "person-id", "admits with the id of a person",
            admitting(dan.admission(.reader, id: bob.person)))
        for (name, member, draft) in [
            ("unknown", "somebody unknown", dan), ("inactive", "a member who was removed", bob),
        ].map({ ($0.0, $0.1, $0.2) }) {
            try refuse(
                "\(name)-role", "the role of \(member)", .member, in: group, role(draft, .admin))
            try refuse(
                "\(name)-removal", "the removal of \(member)", .member, in: group, removal(draft))
            try refuse(
                "\(name)-replacement", "the keys of \(member)", .member, in: group,
                replacement(draft))
        }
        var twice = role(carol, .writer, cut: true)
        twice.removals = removal(carol).removals
        try refuse("twice-removal", "a member in roles and removals", .member, twice)
        var again = role(carol, .writer, cut: true)
        again.keyReplacements = replacement(carol).keyReplacements
        try refuse("twice-replacement", "a member in roles and key replacements", .member, again)
        var both = admitting(dan.admission(.member))
        both.roles = role(dan, .reader, cut: true).roles
        try refuse("twice-admission", "a new member in roles", .member, both)
    }

    private func keys() throws {
        let zeros = [UInt8](repeating: 0, count: 32)
        let prime: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        for (name, key) in [("0", zeros), ("1", Point.one), ("prime", prime)] {
            try refuse(
                "low-index-\(name)", "an index box key of low order", .key,
                admitting(dan.admission(keys: dan.keys.with(indexBox: key))))
            try refuse(
                "low-value-\(name)", "a value box key of low order", .key,
                replacement(carol, by: eve.keys.with(valueBox: key)))
            try refuse("low-epoch-\(name)", "a value public key of low order", .key) {
                $0.epochs { $0.with(valueKey: key) }
            }
        }
        try accept(
            "low-write", "a write key of low order, which signs nothing",
            admitting(dan.admission(keys: dan.keys.with(write: Point.one))))
        let groups: [(String, MemberKeys)] = [
            ("itself", dan.keys.with(authority: dan.keys.write)),
            ("kinds", dan.keys.with(write: dan.keys.valueBox)),
            ("member", dan.keys.with(write: bob.keys.write)),
            ("member-kinds", dan.keys.with(indexBox: carol.keys.authority)),
        ]
        for (name, keys) in groups {
            try refuse(
                "twice-\(name)", "a key of two uses", .key, admitting(dan.admission(keys: keys)))
        }
        try refuse(
            "twice-two", "two new members with one key", .key,
            admitting(
                dan.admission(), eve.admission(keys: eve.keys.with(valueBox: dan.keys.valueBox))))
        try refuse(
            "twice-epoch", "a value public key that is a new member's", .key,
            {
                var draft = admitting(dan.admission())
                draft.epochsFor = [first]
                return draft
            }()
        ) { $0.epochs { $0.with(valueKey: dan.keys.valueBox) } }
        let used = try #require(try group().state.epochs[first]?.valueKey)
        try refuse("past-epoch", "the value public key of an earlier epoch", .key) {
            $0.epochs { $0.with(valueKey: used) }
        }
        try refuse(
            "past-member-epoch", "a box key that is the value public key of an epoch", .key,
            admitting(dan.admission(keys: dan.keys.with(valueBox: used))))
        for (name, keys) in [
            ("write", eve.keys.with(write: carol.keys.write)),
            ("authority", eve.keys.with(authority: carol.keys.authority)),
            ("index", eve.keys.with(indexBox: carol.keys.indexBox)),
            ("value", eve.keys.with(valueBox: carol.keys.valueBox)),
        ] {
            try refuse(
                "kept-\(name)", "a key replacement that keeps a key", .key,
                replacement(carol, by: keys))
        }
        var group = try group()
        try group.add(replacement(carol), by: alice)
        try refuse(
            "replaced", "a key that was replaced", .key, in: group,
            admitting(dan.admission(keys: dan.keys.with(write: carol.keys.write))))
        try refuse(
            "replacing", "a key that replaced another", .key, in: group,
            admitting(dan.admission(keys: dan.keys.with(indexBox: eve.keys.indexBox))))
        var fork = try forked(
            admitting(dan.admission()), .init(epochsFor: [second]), by: alice, in: self.group())
        let theirs = try #require(
            fork.chain.linksInOrder.last { !$0.entry.epochs.isEmpty }?.entry.epochs.first?.valueKey)
        try refuse("other-side", "a value public key of one side", .key, in: fork, joining: true) {
            $0.epochs { $0.compartment == first ? $0.with(valueKey: theirs) : $0 }
        }
        let sides = fork.sides
        try fork.add(.init(), by: alice, after: sides[0], joining: sides[1])
        try refuse(
            "after-join", "a key that one side of a fork used", .key, in: fork,
            admitting(eve.admission(keys: eve.keys.with(write: dan.keys.write))))
        try refuse(
            "after-join-epoch", "a value public key that one side of a fork used", .key, in: fork,
            admitting(eve.admission(keys: eve.keys.with(write: theirs))))
    }

    private func invites() throws {
        let invite = TestRandom.identifier("invite", 1)
        let named = admitting(dan.admission(.reader, invite: invite))
        let again = admitting(eve.admission(.reader, invite: invite))
        try refuse(
            "two", "two admissions name one invite", .invite,
            admitting(
                dan.admission(.reader, invite: invite), eve.admission(.reader, invite: invite)))
        var group = try group()
        try group.add(named, by: alice)
        try refuse("used", "an invite that was named before", .invite, in: group, again)
        group = try self.group()
        try group.add(.init(voidInvites: [invite]), by: alice)
        try refuse("void", "an invite that is void", .invite, in: group, named)
        var both = named
        both.voidInvites = [invite]
        try refuse("void-now", "an invite that the entry makes void", .invite, both)
        for (name, draft) in [("used", named), ("void", TestGroup.Draft(voidInvites: [invite]))] {
            for isLonger in [false, true] {
                var fork = try forked(draft, plain, by: alice, in: self.group())
                if isLonger {
                    let side = fork.chain.heads.first {
                        fork.chain.link($0)?.entry.epochs.isEmpty == false
                    }
                    try fork.add(plain, by: alice, after: side)
                }
                let sides = fork.sides
                try fork.add(.init(), by: alice, after: sides[0], joining: sides[1])
                try refuse(
                    "\(name)-\(isLonger ? "other" : "either")",
                    "an invite that one side of a fork named or made void",
                    .invite, in: fork, again)
            }
        }
        try accept("invite", "an invite for the first time", named)
    }

    private func admins() throws {
        let one = try group(oneAdmin: true)
        var copy = one
        let two = try copy.makeEntry(
            .init(admissions: [alice.admission(.admin), bob.admission(.admin)], hasOneAdmin: true),
            by: alice, previous: nil, other: nil)
        try all.entries(
            "one-admin-first", "entry 1 says one admin, and has two", of: copy.emptied, with: [two],
            group: GroupHash(of: two), refused: [two: .oneAdmin])
        try refuse(
            "admission", "a second admin", .oneAdmin, in: one, admitting(dan.admission(.admin)))
        try refuse(
            "role", "a member becomes the second admin", .oneAdmin, in: one, role(bob, .admin))
        try refuse("none", "the only admin leaves", .oneAdmin, in: one, removal(alice))
        var handOver = role(bob, .admin)
        handOver.roles += role(alice, .member, cut: true).roles
        try accept("one-admin-other", "another member becomes the only admin", in: one, handOver)
        try refuse("removal", "the only admin leaves", .lastAdmin, removal(alice))
        try refuse(
            "role", "the only admin becomes a member", .lastAdmin, role(alice, .member, cut: true))
        var both = removal(alice)
        both.removals = (both.removals + removal(bob).removals).sorted { $0.member < $1.member }
        try refuse("both", "both admins leave", .lastAdmin, in: group(bob: .admin), both)
        try accept("admin-leaves", "one of two admins leaves", in: group(bob: .admin), removal(bob))
    }

    private func changes() throws {
        try refuse("role", "the role that the member has", .noChange, role(bob, .member))
        var group = try group()
        try group.add(role(bob, .member, limit: [first, second], cut: true), by: alice)
        try refuse(
            "limit", "the limit that the member has", .noChange, in: group,
            role(bob, .member, limit: [first, second]))
        try accept(
            "limit", "another limit", in: group, role(bob, .member, limit: [first], cut: true))
        try refuse("nothing", "no item at all", .noChange, .init())
        let bare = try TestGroup(founder: alice, compartments: [], others: [(bob, .admin)])
        let fork = try forked(
            admitting(dan.admission(.reader)), admitting(eve.admission(.reader)), in: bare)
        try accept("join-nothing", "joins a group without epochs", in: fork, joining: true)
        try accept("void", "makes an invite void", .init(voidInvites: [dan.id]))
    }

    private func cuts() throws {
        let none: (Entry) -> Entry = { $0 }
        try refuse("lowering", "a lower role without a cut", .cut, role(bob, .reader), none)
        try refuse("limit", "a limit without a cut", .cut, role(bob, .member, limit: [first]))
        try refuse("raise", "a higher role with a cut", .cut, role(carol, .member, cut: true))
        var group = try group(bob: .writer)
        try refuse(
            "not-comparable", "a writer becomes a reader without a cut", .cut, in: group,
            role(bob, .reader))
        try accept(
            "writer-reader", "a writer becomes a reader with a cut", in: group,
            role(bob, .reader, cut: true))
        try group.add(role(bob, .writer, limit: [second], cut: true), by: alice)
        try refuse(
            "raise-limit", "a wider limit with a cut", .cut, in: group,
            role(bob, .writer, limit: [first, second], cut: true))
        try refuse(
            "raise-no-limit", "no limit any more, with a cut", .cut, in: group,
            role(bob, .writer, cut: true))
        try refuse(
            "raise-and-limit", "a higher role with another limit, without a cut", .cut, in: group,
            role(bob, .member, limit: [first]))
        try accept(
            "raise-and-limit", "the same with a cut", in: group,
            role(bob, .member, limit: [first], cut: true))
        try accept(
            "raise-limit", "a wider limit", in: group, role(bob, .writer, limit: [first, second]))
    }

    private func epochs() throws {
        let base = try group()
        try refuse("number", "the current epoch plus 2", .epoch) {
            $0.epochs { $0.with(number: 3) }
        }
        try refuse("number-same", "the current epoch again", .epoch) {
            $0.epochs { $0.with(number: 1) }
        }
        try refuse(
            "number-first", "a first epoch with the number 2", .epoch, .init(epochsFor: [second])
        ) {
            $0.epochs { $0.with(number: 2) }
        }
        try refuse("rungs-none", "a later epoch without a rung", .epoch) {
            $0.epochs { $0.with(rungs: []) }
        }
        try refuse("rungs-other", "a rung of another entry", .epoch) {
            $0.epochs { $0.with(rungs: [.zeros(GroupHash(of: [1]))]) }
        }
        try refuse("rungs-first", "a first epoch with a rung", .epoch, .init(epochsFor: [second])) {
            $0.epochs { $0.with(rungs: [.zeros(base.head)]) }
        }
        try refuse("rungs-two", "two rungs without a fork", .epoch) {
            $0.epochs { epoch in
                epoch.with(
                    rungs: [.zeros(base.head), .zeros(GroupHash(of: [1]))].sorted {
                        $0.entry < $1.entry
                    })
            }
        }
        for (name, draft) in [
            ("removal", removal(bob)), ("replacement", replacement(bob)),
            ("role", role(bob, .reader, cut: true)),
            ("limit", role(bob, .member, limit: [first], cut: true)),
        ] {
            try refuse("without-\(name)", "a lowering without a new epoch", .epoch, draft) {
                $0.with(epochs: [])
            }
        }
        var group = base
        try group.add(.init(epochsFor: [second]), by: alice)
        try group.add(role(bob, .member, limit: [first], cut: true), by: alice)
        try refuse(
            "without-access", "a removal with the epoch of another compartment", .epoch, in: group,
            removal(bob)
        ) { entry in entry.with(epochs: entry.epochs.filter { $0.compartment == second }) }
        try accept(
            "removal-limited", "a removal needs no epoch of what the member had no access to",
            in: group, removal(bob))
        let fork = try forked(plain, .init(epochsFor: [second]), by: alice, in: self.group())
        try refuse(
            "joining-none", "joins without the epoch of one side", .epoch, in: fork, joining: true
        ) { entry in
            entry.with(epochs: entry.epochs.filter { $0.compartment == first })
        }
        let side = try #require(
            fork.chain.heads.first { fork.chain.link($0)?.state.epochs[first]?.number == 2 })
        try refuse(
            "joining-lower", "joins with the epoch after the lower one", .epoch, in: fork,
            joining: true
        ) {
            $0.epochs { $0.compartment == first ? $0.with(number: 2) : $0 }
        }
        try refuse(
            "joining-rung", "joins with the rung of one side", .epoch, in: fork, joining: true
        ) {
            $0.epochs { epoch in
                epoch.compartment == first ? epoch.with(rungs: [.zeros(side)]) : epoch
            }
        }
        let same = try forked(
            admitting(dan.admission(.reader)), admitting(eve.admission(.reader)), by: alice,
            in: self.group())
        try accept("join-same-epoch", "joins two sides with one epoch", in: same, joining: true)
        try accept(
            "join-first-epoch", "joins, with the first epoch of another compartment", in: same,
            .init(epochsFor: [second]), joining: true)
        var longer = fork
        try longer.add(plain, by: alice, after: fork.chain.heads.first { $0 != side })
        try longer.add(plain, by: alice, after: longer.chain.heads.first { $0 != side })
        try accept("join-epochs", "joins sides with different epochs", in: longer, joining: true)
    }

    private func recipients() throws {
        let bob = bob.id
        try refuse("fewer", "an epoch without a member", .recipients) { entry in
            entry.recipients { $0.member == bob ? nil : $0 }
        }
        let more = NewEpoch.Recipient(member: dan.id, keys: .zeros(readsValues: true))
        func added(_ entry: Entry) -> Entry {
            entry.epochs { epoch in
                epoch.with(recipients: (epoch.recipients + [more]).sorted { $0.member < $1.member })
            }
        }
        try refuse("unknown", "an epoch for somebody unknown", .recipients) { added($0) }
        var group = try group()
        try group.add(admitting(dan.admission(.reader)), by: alice)
        try group.add(removal(dan), by: alice)
        try refuse("removed", "an epoch for a member who was removed", .recipients, in: group) {
            added($0)
        }
        try refuse(
            "removed-now", "an epoch for a member whom the entry removes", .recipients,
            removal(self.bob)
        ) { entry in
            entry.epochs { epoch in
                epoch.with(
                    recipients: (epoch.recipients + [
                        .init(member: bob, keys: .zeros(readsValues: true))
                    ])
                    .sorted { $0.member < $1.member })
            }
        }
        group = try self.group()
        try group.add(role(self.bob, .member, limit: [second], cut: true), by: alice)
        try refuse("limited", "an epoch for a member without access", .recipients, in: group) {
            entry in
            entry.epochs { epoch in
                epoch.with(
                    recipients: (epoch.recipients + [
                        .init(member: bob, keys: .zeros(readsValues: true))
                    ])
                    .sorted { $0.member < $1.member })
            }
        }
        for (name, role) in [
            ("writer", GroupRole.writer), ("reader", .reader), ("member", .member),
        ] {
            try refuse(
                "value-\(name)", "a value box contrary to the role of a \(name)", .recipients,
                in: self.group(bob: role)
            ) { entry in
                entry.recipients {
                    $0.member == bob ? .init(member: bob, keys: $0.keys.withOtherValueBox) : $0
                }
            }
        }
        try refuse(
            "new", "an epoch without the member whom the entry admits", .recipients,
            {
                var draft = admitting(dan.admission())
                draft.epochsFor = [first]
                return draft
            }()
        ) { entry in entry.recipients { $0.member == dan.id ? nil : $0 } }
    }

    private func grants() throws {
        try refuse("none", "an admission without grants", .grants, admitting(dan.admission())) {
            $0.grants { _ in [] }
        }
        func changed(_ change: @escaping (Grant) -> Grant) -> (Entry) -> Entry {
            { $0.grants { $0.map(change) } }
        }
        try refuse(
            "number", "the epoch 2 instead of 1", .grants, admitting(dan.admission()),
            changed { Grant(compartment: $0.compartment, epoch: 2, keys: $0.keys) })
        for role in [GroupRole.writer, .reader] {
            try refuse(
                "value-\(role)", "a value box contrary to the role", .grants,
                admitting(dan.admission(role)),
                changed {
                    Grant(
                        compartment: $0.compartment, epoch: $0.epoch,
                        keys: $0.keys.withOtherValueBox)
                })
        }
        let grant = Grant(compartment: first, epoch: 1, keys: .zeros(readsValues: true))
        let limited = Admission(
            member: dan.id, person: dan.person, name: dan.name,
            rights: MemberRights(role: .member, limit: [second]), keys: dan.keys)
        try refuse("limited", "a grant without access", .grants, admitting(limited)) {
            $0.grants { _ in [grant] }
        }
        try accept(
            "admission-limited", "an admission without access to what has an epoch",
            admitting(limited))
        try refuse("no-epoch", "a grant of what has no epoch", .grants, admitting(dan.admission()))
        {
            $0.grants { grants in
                (grants + [Grant(compartment: second, epoch: 1, keys: .zeros(readsValues: true))])
                    .sorted { $0.compartment < $1.compartment }
            }
        }
        var both = admitting(dan.admission())
        both.epochsFor = [first]
        try accept("admission-epoch", "an admission with a new epoch", both)
        try refuse("epoch", "a grant though the entry has an epoch", .grants, both) {
            $0.grants { _ in [grant] }
        }
        try refuse(
            "lowering", "a grant of what a lowered member had", .grants,
            role(bob, .reader, cut: true)
        ) { entry in
            entry.with(epochs: entry.epochs).grants { _ in [grant] }
        }
        var group = try group(bob: .writer, carol: .reader)
        try refuse(
            "raise-none", "a writer becomes a member without grants", .grants, in: group,
            role(bob, .member)
        ) {
            $0.grants { _ in [] }
        }
        try accept("raise", "a writer becomes a member", in: group, role(bob, .member))
        try refuse(
            "raise-had", "a grant of what the member had", .grants, in: group, role(carol, .member)
        ) {
            $0.grants { _ in [grant] }
        }
        try accept("raise-had", "a reader becomes a member", in: group, role(carol, .member))
        try group.add(.init(epochsFor: [second]), by: alice)
        try group.add(role(bob, .writer, limit: [second], cut: true), by: alice)
        try refuse(
            "widen-none", "a wider limit without grants", .grants, in: group, role(bob, .writer)
        ) {
            $0.grants { _ in [] }
        }
        try refuse(
            "widen-value", "a wider limit with a value box for a writer", .grants, in: group,
            role(bob, .writer),
            changed {
                Grant(compartment: $0.compartment, epoch: $0.epoch, keys: $0.keys.withOtherValueBox)
            })
        try accept("widen", "a wider limit", in: group, role(bob, .writer))
        try accept(
            "widen-raise", "a wider limit, and values for the first time", in: group,
            role(bob, .member))
        // The member loses one compartment and gains another one.
        try refuse(
            "swap", "another limit, without a grant", .grants, in: group,
            role(bob, .writer, limit: [first], cut: true)
        ) {
            $0.grants { _ in [] }
        }
        try accept(
            "swap", "another limit, with a grant", in: group,
            role(bob, .writer, limit: [first], cut: true))
    }

    /// Entries that break two rules: the first one in the table is the reason.
    private func orders() throws {
        let base = try group(bob: .admin)
        let fork = try forked(plain, .init(epochsFor: [second]))
        func broken(_ object: [UInt8]) -> [UInt8] {
            var object = object
            object[object.count - 1] ^= 1
            return object
        }
        try refuse("before-author", "and not by an admin", .number, by: dan) { $0.with(number: 5) }
        var group = base
        let wrong = broken(
            try group.makeEntry(.init(), by: alice, previous: group.head, other: nil))
        try all.entries(
            "signature-before-change", "a wrong signature, and no change", of: group, with: [wrong],
            refused: [wrong: .signature])
        var copy = fork
        let sides = copy.sides
        let joined = broken(
            try copy.makeEntry(removal(carol), by: alice, previous: sides[0], other: sides[1]))
        try all.entries(
            "signature-before-join", "a wrong signature, joins with a removal", of: copy,
            with: [joined],
            refused: [joined: .signature])
        try refuse(
            "before-member", "joins with the removal of somebody unknown", .join, in: fork,
            removal(dan), joining: true)
        try refuse(
            "before-key", "an id and keys that were used", .member, in: base,
            admitting(dan.admission(id: carol.id, keys: carol.keys)))
        let invite = TestRandom.identifier("invite", 1)
        var void = admitting(dan.admission(keys: carol.keys, invite: invite))
        void.voidInvites = [invite]
        try refuse("before-invite", "used keys and a void invite", .key, in: base, void)
        let one = try self.group(oneAdmin: true)
        var second = admitting(dan.admission(.admin, invite: invite))
        second.voidInvites = [invite]
        try refuse("before-one-admin", "a void invite for a second admin", .invite, in: one, second)
        var same = admitting(dan.admission(.admin))
        same.roles = role(bob, .member).roles
        try refuse(
            "before-no-change", "a second admin and an unchanged role", .oneAdmin, in: one, same)
        var last = removal(alice)
        last.roles = role(bob, .member).roles
        try refuse("before-last-admin", "an unchanged role, and no admin", .noChange, last)
        try refuse("before-cut", "no admin, without a cut", .lastAdmin, role(alice, .member))
        var lowered = role(carol, .writer)
        lowered.removals = removal(bob).removals
        try refuse("before-epoch", "no cut and no epoch", .cut, in: base, lowered) {
            $0.with(epochs: [])
        }
        try refuse("before-recipients", "a wrong number and no recipients", .epoch, in: base) {
            $0.epochs { $0.with(number: 7, recipients: []) }
        }
        var both = admitting(dan.admission())
        both.epochsFor = [first]
        try refuse(
            "before-grants", "no recipients, and a grant too much", .recipients, in: base, both
        ) { entry in
            entry.epochs { $0.with(recipients: []) }.grants { _ in
                [Grant(compartment: first, epoch: 1, keys: .zeros(readsValues: true))]
            }
        }
    }
}

/// Ed25519 values for who does not check keys.
enum Point {
    /// The neutral element, which has order 1; as an X25519 key, it has order 4.
    static let one: [UInt8] = [1] + [UInt8](repeating: 0, count: 31)
    /// The base point, and 1: with the neutral element as key, the equation holds for every text.
    static let signature: [UInt8] =
        [0x58] + [UInt8](repeating: 0x66, count: 31) + [1] + [UInt8](repeating: 0, count: 31)
}

extension TestGroup {
    /// The same without entries.
    var emptied: TestGroup {
        var copy = self
        copy.removeEntries()
        return copy
    }
}
