import Testing
import Vault

@testable import Groups

/// Histories that show the rule of the newest entry (6.3), joined memberships (3.4), and how the state
/// follows from assignments (6.4).
struct StateRuleVectors {
    private let all = RuleVectors()
    private let alice = RuleVectors.alice
    private let bob = RuleVectors.bob
    private let carol = RuleVectors.carol
    private let dan = RuleVectors.dan
    private let eve = RuleVectors.eve
    private let first = RuleVectors.first
    private let second = RuleVectors.second

    static func all() throws -> [GroupVector] {
        let made = StateRuleVectors()
        try made.joined()
        try made.rights()
        try made.cuts()
        try made.forks()
        try made.effective()
        try made.decisions()
        try made.lateThings()
        try made.lateReasons()
        try made.choices()
        try made.offered()
        try made.twins()
        try made.results()
        return try made.all.finished()
    }

    // MARK: 3.4

    /// Both sides of a fork, in either order of previous and other.
    private func join(
        _ name: String, _ description: String, in base: TestGroup? = nil,
        _ left: TestGroup.Draft, _ right: TestGroup.Draft
    ) throws {
        for isLonger in [false, true] {
            var group =
                try base
                ?? TestGroup(
                    founder: alice, compartments: [first],
                    others: [(bob, .member), (carol, .writer)])
            let start = group.head
            var one = try group.add(left, by: alice, after: start)
            let two = try group.add(right, by: alice, after: start)
            if isLonger { one = try group.add(.init(voidInvites: [eve.id]), by: alice, after: one) }
            let sides = group.sides
            #expect(Set(sides) == [one, two])
            try group.add(.init(), by: alice, after: sides[0], joining: sides[1])
            try all.entries("joined-\(name)\(isLonger ? "-other" : "")", description, of: group)
        }
    }

    private func role(
        _ member: TestMember, _ role: GroupRole, limit: [Identifier]? = nil, cut: Bool = true
    ) -> TestGroup.Draft {
        .init(roles: [
            RoleChange(
                member: member.id, rights: MemberRights(role: role, limit: limit),
                cut: cut ? Cut() : nil)
        ])
    }

    private func joined() throws {
        let plain = TestGroup.Draft(epochsFor: [second])
        let admitted = TestGroup.Draft(admissions: [dan.admission(.member)])
        try join("new", "a member of one side", admitted, plain)
        try join(
            "removed", "a member who was removed on one side",
            .init(removals: [Removal(member: bob.id, cut: Cut())]), plain)
        try join("lower", "a role that is lower on one side", role(bob, .reader), plain)
        try join(
            "raised", "a role that was raised on one side", role(carol, .member, cut: false), plain)
        try join("roles", "roles that are not comparable", role(bob, .reader), role(bob, .writer))
        try join("limit", "a limit on one side", role(bob, .member, limit: [first]), plain)
        try join(
            "limits", "limits on both sides", role(bob, .member, limit: [first]),
            role(bob, .member, limit: [first, second].sorted()))
        try join(
            "limits-disjoint", "limits with nothing in common, and other roles",
            role(bob, .reader, limit: [first]), role(bob, .writer, limit: [second]))
        let replaced = KeyReplacement(member: bob.id, keys: eve.keys, cut: Cut())
        try join("keys", "other keys on one side", .init(keyReplacements: [replaced]), plain)
        try join(
            "person", "another person", admitted,
            .init(admissions: [dan.admission(person: eve.person)]))
        try join("name", "another name", admitted, .init(admissions: [dan.admission(named: "eve")]))
        try join(
            "name-form", "a name that only looks the same",
            .init(admissions: [dan.admission(named: "ren\u{E9}")]),
            .init(admissions: [dan.admission(named: "rene\u{301}")]))
        try join(
            "same", "a member whom both sides admitted alike", admitted,
            {
                var draft = admitted
                draft.epochsFor = [second]
                return draft
            }())
    }

    // MARK: 6.3

    private func rights() throws {
        let cases: [(String, String, (inout Story, [GroupHash]) throws -> Void)] = [
            ("removed", "the author was removed", { try $0.remove(bob, cut: $1) }),
            ("role", "the author became a reader", { try $0.setRole(bob, .reader, cut: $1) }),
            (
                "limit", "the author was limited to another compartment",
                {
                    try $0.setRole(bob, .member, limit: [second], cut: $1)
                }
            ),
            (
                "keys", "the author's keys were replaced",
                { story, cut in
                    try story.sign(
                        .init(keyReplacements: [
                            KeyReplacement(
                                member: bob.id, keys: eve.keys, cut: Cut(heads: [first: cut]))
                        ]))
                }
            ),
        ]
        for (name, description, lower) in cases {
            var story = try Story()
            let seen = try story.write(bob, [Op.create(1)])
            let listed = try story.write(bob, [Op.create(2)])
            let start = story.group.head
            try lower(&story, [listed])
            try story.write(bob, [Op.create(3)], after: [], late: .cut) { $0.entry = start }
            try story.write(bob, [Op.of(1, replacing: [Op.ref(seen)], .name("NEW"))], late: .cut) {
                $0.entry = start
            }
            try story.write(carol, [Op.value(1)], after: [listed])
            try all.changes("rights-\(name)", description, story)
        }
        var story = try Story()
        let start = story.group.head
        try story.write(bob, [Op.create(1)])
        try story.write(bob, [Op.create(2), Op.of(2, .comment("c"))], late: .cut)
        try story.setRole(bob, .writer, cut: [])
        try story.write(bob, [Op.create(3)], inNewChain: true)
        try story.write(bob, [Op.create(4)], inNewChain: true) { $0.entry = start }
        try all.changes("rights-writer", "what a writer may do stays without a cut", story)
    }

    private func cuts() throws {
        // An earlier lowering that ended none of the rights.
        var story = try Story(bob: .admin)
        let kept = try story.write(bob, [Op.create(1)])
        try story.setRole(bob, .member, cut: [])
        try story.remove(bob, cut: [kept])
        try all.changes(
            "cut-other-right", "the first of two lowerings did not end the rights", story)

        for (name, description, isLast) in [
            ("last", "only the cut of the last loss has the change", true),
            ("first", "only the cut of the first loss has the change", false),
        ] {
            story = try Story()
            let change = try story.write(bob, [Op.create(1)], late: isLast ? nil : .cut)
            try story.setRole(bob, .reader, cut: isLast ? [] : [change])
            try story.setRole(bob, .member)
            try story.remove(bob, cut: isLast ? [change] : [])
            try all.changes("cut-\(name)", description, story)
        }

        story = try Story()
        let other = try story.write(bob, [Op.create(1)], late: .cut)
        let listed = GroupHash(of: [1])
        try story.sign(
            .init(removals: [
                Removal(member: bob.id, cut: Cut(heads: [second: [other], first: [listed]]))
            ]))
        try all.changes("cut-compartment", "the cut lists the change in another compartment", story)
        story = try Story()
        let elsewhere = try story.write(bob, [Op.create(1)], late: .cut)
        try story.sign(
            .init(removals: [
                Removal(member: bob.id, cut: Cut(heads: [second: [elsewhere]]))
            ]))
        try all.changes(
            "cut-compartment-only", "the cut lists changes of another compartment only", story)

        story = try Story()
        let entry = story.group.head
        let before = try story.write(bob, [Op.create(1)], late: .cut)
        let waits = try story.write(bob, [Op.create(2)], waiting: .entry) {
            $0.entryName = GroupHash(of: [5])
            $0.entryNumber = 9
        }
        let follows = try story.write(bob, [Op.create(3)], waiting: .parents) { $0.entry = entry }
        try story.remove(bob, cut: [waits, follows, GroupHash(of: [6])].sorted())
        _ = before
        try all.changes("cut-waiting", "the cut lists changes that wait, or are not present", story)

        story = try Story()
        let late = try story.write(bob, [Op.create(1)])
        let wrong = try story.write(bob, [Op.of(9, .remove)], late: .record)
        try story.remove(bob, cut: [wrong])
        _ = late
        try all.changes("cut-late", "the cut lists a change that is late for another reason", story)
    }

    private func forks() throws {
        // Alice and carol are admins; each side removes bob with another cut.
        for (name, description, isListedTwice) in [
            ("one", "the cut of one of two sides has the change", false),
            ("both", "the cuts of both sides have the change", true),
        ] {
            for isJoined in [false, true] {
                var story = try Story(carol: .admin)
                let start = story.group.head
                let change = try story.write(bob, [Op.create(1)], late: isListedTwice ? nil : .cut)
                try story.remove(bob, cut: [change], after: start)
                try story.remove(bob, cut: isListedTwice ? [change] : [], by: carol, after: start)
                if isJoined { try story.join() }
                try all.changes("cut-\(name)\(isJoined ? "-joined" : "")", description, story)
            }
        }
        for isLonger in [false, true] {
            var story = try Story(carol: .admin)
            let start = story.group.head
            try story.write(bob, [Op.create(1)], late: .cut)
            let change = try story.write(carol, [Op.create(2)])
            let removed = try story.remove(bob, after: start)
            let other = try story.sign(.init(epochsFor: [second]), by: carol, after: start)
            if isLonger { try story.sign(.init(voidInvites: [eve.id]), by: carol, after: other) }
            _ = (change, removed)
            try all.changes(
                "fork\(isLonger ? "-other" : "")", "one of two heads does not agree", story)
            try story.join()
            try all.changes(
                "fork-joined\(isLonger ? "-other" : "")", "the same after joining", story)
        }
        for isLonger in [false, true] {
            var story = try Story(bob: .admin, carol: .admin)
            let start = story.group.head
            let change = try story.write(bob, [Op.create(1)])
            try story.remove(bob, cut: [change], after: start)
            var other = try story.setRole(bob, .member, cut: [], by: carol, after: start)
            if isLonger {
                other = try story.sign(.init(voidInvites: [eve.id]), by: carol, after: other)
            }
            try story.join()
            try all.changes(
                "cut-one-side\(isLonger ? "-other" : "")",
                "one side removed the author, the other took no right of the change", story)
        }
        // A right that only one side gave ends without a lowering.
        var story = try Story(carol: .admin)
        let start = story.group.head
        let one = try story.sign(.init(admissions: [dan.admission(.member)]), after: start)
        try story.sign(.init(admissions: [dan.admission(.reader)]), by: carol, after: start)
        try story.write(dan, [Op.create(1)], late: .cut) { $0.entry = one }
        try story.join()
        try all.changes("no-lowering", "a right that only one side of a fork gave", story)
        story = try Story(carol: .admin)
        let base = story.group.head
        let side = try story.sign(.init(admissions: [dan.admission(.member)]), after: base)
        try story.sign(.init(epochsFor: [second]), by: carol, after: base)
        try story.write(dan, [Op.create(1)], late: .cut) { $0.entry = side }
        try all.changes("unknown-head", "a head that does not know the author", story)
    }

    private func effective() throws {
        for (name, description, author) in [
            ("own", "only the author had built on it", bob),
            ("other", "somebody had built on it", carol),
        ] {
            var story = try Story()
            let late = try story.write(bob, [Op.create(1)], late: .cut)
            let next: GroupHash
            if author === bob {
                try story.write(bob, [Op.create(2)], late: .cut)
                next = try story.write(bob, [Op.create(3)], late: .cut)
            } else {
                next = try story.write(carol, [Op.create(3)], after: [late])
                story.effective = [late]
            }
            _ = next
            try story.remove(bob)
            try all.changes("effective-\(name)", description, story) {
                $0.records.count == (author === bob ? 0 : 2)
            }
        }
        // The author's own change counts, as a writer's, and is built on what does not.
        var story = try Story()
        let late = try story.write(bob, [Op.create(1), Op.of(1, .comment("c"))], late: .cut)
        try story.write(bob, [Op.create(2)])
        try story.setRole(bob, .writer, cut: [])
        try all.changes(
            "effective-self", "the author's own change that counts was built on it", story
        ) {
            $0.records.map(\.id) == [Op.record(2)]
        }
        // Two members of one person are two authors.
        let twin = TestMember(401, person: 1)
        let known = try TestGroup(
            founder: alice, compartments: [first], others: [(bob, .member), (twin, .member)])
        story = Story(known)
        let mine = try story.write(bob, [Op.create(1)], late: .cut)
        try story.write(twin, [Op.create(2)], after: [mine])
        try story.remove(bob)
        story.effective = [mine]
        try all.changes(
            "effective-person", "another member of the same person had built on it", story)
        _ = late
        // Late for another reason: never effective.
        story = try Story()
        let wrong = try story.write(bob, [Op.create(1), Op.value(2)], late: .record)
        try story.write(carol, [Op.create(3)], after: [wrong])
        try all.changes("effective-record", "somebody had built on what is late as record", story) {
            $0.records.map(\.id) == [Op.record(3)]
        }
    }

    // MARK: 6.4

    /// Bob's value is late and effective: carol had built on it, and alice removes bob.
    private func lateValue(carol role: GroupRole = .member) throws -> (
        Story, start: GroupHash, late: ChangeReference
    ) {
        var story = try Story(carol: role)
        let start = try story.write(alice, [Op.create(), Op.value()])
        let late = try story.write(
            bob, [Op.value(seed: 1, replacing: [Op.ref(start, 1)])], after: [start], late: .cut)
        try story.write(carol, [Op.create(1)], after: [late])
        story.effective = [late]
        return (story, start, Op.ref(late))
    }

    private func decisions() throws {
        func decide(
            _ name: String, _ description: String, by author: TestMember,
            carol role: GroupRole = .member,
            replaces: Bool, before: Bool = false, later: Bool = false,
            then: (inout Story) throws -> Void = { _ in }
        ) throws {
            var (story, _, late) = try lateValue(carol: role)
            let old = story.group.head
            try story.remove(bob)
            if later { try story.sign(.init(voidInvites: [eve.id])) }
            let new = try story.write(
                author, [Op.value(seed: 2, replacing: [late])], after: [late.change]
            ) {
                if before { $0.entry = old }
            }
            try then(&story)
            try all.changes("decide-\(name)", description, story) { state in
                let versions =
                    state.records.first { $0.id == Op.record(0) }?.choices.map(\.version.change)
                    ?? []
                return Set(versions) == Set(replaces ? [new] : [new, late.change])
            }
        }
        try decide(
            "member", "a member who knows the lowering replaces a late value", by: carol,
            replaces: false)
        try decide(
            "later", "a member who knows a later entry", by: carol, replaces: false, later: true)
        try decide(
            "before", "a member who does not know the lowering", by: carol, replaces: true,
            before: true)
        try decide("admin", "an admin who knows the lowering", by: alice, replaces: true)
        try decide(
            "other-admin", "another admin who knows the lowering", by: carol, carol: .admin,
            replaces: true)
        try decide(
            "lowered-admin", "an admin who was lowered afterwards", by: carol, carol: .admin,
            replaces: true
        ) {
            let last = try #require($0.changes.last.map { GroupHash(of: $0) })
            try $0.setRole(carol, .member, cut: [last])
        }
        try decide(
            "raised-admin", "a member who became an admin afterwards", by: carol, replaces: false
        ) {
            try $0.setRole(carol, .admin)
        }
        // A member replaces also what counts, with the same operation.
        var (story, _, late) = try lateValue()
        try story.remove(bob)
        let counts = try story.write(alice, [Op.value(seed: 3)])
        try story.write(
            carol, [Op.value(seed: 2, replacing: [late, Op.ref(counts)])], after: [counts])
        try all.changes("decide-both", "a late value and one that counts", story) {
            $0.records.first { $0.id == Op.record(0) }?.choices.count == 2
        }
        // Only the lowering that was left matters.
        story = try Story()
        let created = try story.write(alice, [Op.create(), Op.value()])
        let value = try story.write(
            bob, [Op.value(seed: 1, replacing: [Op.ref(created, 1)])], after: [created], late: .cut)
        try story.write(carol, [Op.create(1)], after: [value])
        story.effective = [value]
        let earlier = try story.setRole(bob, .reader, cut: [])
        try story.setRole(bob, .member)
        try story.write(carol, [Op.value(seed: 2, replacing: [Op.ref(value)])]) {
            $0.entry = earlier; $0.epoch = 2
        }
        try story.remove(bob)
        try all.changes("decide-earlier", "a member who knows only an earlier lowering", story) {
            $0.records.first { $0.id == Op.record(0) }?.choices.count == 1
        }
    }

    /// Bob's operations are late and effective, carol's are of the same time and count.
    private func contest(
        _ name: String, _ description: String, project: Bool = false,
        _ operations: (_ start: GroupHash, _ isLate: Bool) -> [RecordOperation],
        _ shows: (CompartmentState) -> Bool
    ) throws {
        for isAlone in [false, true] {
            var story: Story
            var (late, other): (GroupHash, GroupHash?)
            // The late one comes first, so that the lowest is not the one that counts.
            repeat {
                story = try Story()
                other = nil
                let start = try story.write(
                    alice,
                    [
                        Op.create(comment: "old", reminder: 9), Op.value(),
                        Op.project(.projectName("old")), Op.project(Op.binding("prj_old")),
                    ])
                late = try story.write(bob, operations(start, true), after: [start], late: .cut) {
                    $0.key = .authority
                }
                if !isAlone {
                    other = try story.write(carol, operations(start, false), after: [start]) {
                        $0.key = .authority
                    }
                }
            } while other.map { $0 < late } ?? false
            try story.write(carol, [Op.create(1)], after: [late])
            story.effective = [late]
            try story.remove(bob)
            try all.changes("late-\(name)\(isAlone ? "-alone" : "")", description, story) {
                isAlone || shows($0)
            }
        }
    }

    private func lateThings() throws {
        func record(_ state: CompartmentState) -> RecordState? {
            state.records.first { $0.id == Op.record(0) }
        }
        let left = "is left out beside one that counts, and is a candidate"
        try contest(
            "type", "a late type \(left)",
            {
                [Op.of(replacing: [Op.ref($0)], .type($1 ? .sensitive : .encrypted))]
            }
        ) { record($0)?.type == .encrypted && record($0)?.candidates[.type]?.count == 2 }
        try contest(
            "comment", "a late comment \(left)",
            {
                [Op.of(replacing: [Op.ref($0)], .comment($1 ? "late" : "new"))]
            }
        ) { record($0)?.comment == "new" && record($0)?.contested == [] }
        try contest(
            "reminder", "a late reminder \(left)",
            {
                [Op.of(replacing: [Op.ref($0)], .reminder($1 ? 1 : 2))]
            }
        ) { record($0)?.reminder == 2 && record($0)?.contested == [] }
        try contest(
            "claim", "a late claim \(left)",
            { start, _ in
                [Op.of(Op.claim(Op.ref(start, 1)))]
            }
        ) { record($0)?.claims.count == 1 && record($0)?.candidates[.claim]?.count == 2 }
        try contest("rotation", "a late rotation \(left)", { [Op.of(.rotation($1 || $0 == $0))] }) {
            record($0)?.rotations.count == 1 && record($0)?.candidates[.rotation]?.count == 2
        }
        try contest(
            "name", "a late name takes part",
            {
                [Op.of(replacing: [Op.ref($0)], .name($1 ? "LATE" : "NEW"))]
            }
        ) { record($0)?.names == ["LATE", "NEW"] }
        try contest(
            "scope", "a late scope takes part",
            { start, isLate in
                [
                    Op.of(
                        replacing: [Op.ref(start)],
                        .scope(Op.scope(isLate ? 0 : 1, isLate ? ["qa"] : [])))
                ]
            }
        ) { _ in true }
        try contest(
            "project-name", "a late project name takes part",
            {
                [Op.project(replacing: [Op.ref($0, 2)], .projectName($1 ? "late" : "new"))]
            }
        ) { $0.projectNames == ["late", "new"] }
        try contest(
            "binding", "a late binding takes part",
            {
                [Op.project(replacing: [Op.ref($0, 3)], $1 ? .binding(nil) : Op.binding("prj_new"))]
            }
        ) { $0.bindings.count == 2 }
        try contest(
            "value", "a late value takes part",
            {
                [Op.value(seed: $1 ? 1 : 2, replacing: [Op.ref($0, 1)])]
            }
        ) { record($0)?.choices.map(\.isLate).sorted { !$0 && $1 } == [false, true] }
        try contest(
            "choose", "a version that was chosen late and otherwise",
            { start, _ in
                [Op.of(replacing: [Op.ref(start, 1)], .choose(Op.ref(start, 1)))]
            }
        ) { record($0)?.choices.map(\.isLate) == [false] && record($0)?.contested == [.late] }
    }

    /// Which late candidates contest a record.
    private func lateReasons() throws {
        let things: [(String, Bool, (GroupHash) -> RecordOperation)] = [
            ("value", true, { Op.value(seed: 1, replacing: [Op.ref($0, 1)]) }),
            ("remove", true, { Op.of(replacing: [Op.ref($0, 1)], .remove) }),
            ("name", true, { Op.of(replacing: [Op.ref($0)], .name("LATE")) }),
            ("scope", true, { Op.of(replacing: [Op.ref($0)], .scope(Op.scope(2))) }),
            ("type", true, { Op.of(replacing: [Op.ref($0)], .type(.sensitive)) }),
            ("comment", false, { Op.of(replacing: [Op.ref($0)], .comment("late")) }),
            ("reminder", false, { Op.of(replacing: [Op.ref($0)], .reminder(3)) }),
            ("claim", false, { Op.of(Op.claim(Op.ref($0, 1))) }),
            ("rotation", false, { _ in Op.of(.rotation(true)) }),
        ]
        for (name, isContested, operation) in things {
            var story = try Story()
            let start = try story.write(alice, [Op.create(), Op.value()])
            let late = try story.write(bob, [operation(start)], after: [start], late: .cut) {
                $0.key = .authority
            }
            try story.write(carol, [Op.create(1)], after: [late])
            story.effective = [late]
            try story.remove(bob)
            try all.changes("contested-late-\(name)", "only a late \(name) is a candidate", story) {
                $0.records.first { $0.id == Op.record(0) }?.contested
                    == (isContested ? [.late] : [])
            }
        }
    }

    private func choices() throws {
        // Two candidates of everything that has one result.
        for turn in 0..<4 {
            var story = try Story()
            let start = try story.write(alice, [Op.create(), Op.value()])
            let create = [Op.ref(start)]
            func writing(_ isFirst: Bool) -> [RecordOperation] {
                [
                    Op.of(replacing: create, .type(isFirst ? .sensitive : .encrypted)),
                    Op.of(replacing: create, .comment(isFirst ? "one" : "two \(turn)")),
                    Op.of(replacing: create, .reminder(isFirst ? 1 : 2)),
                    Op.of(Op.claim(Op.ref(start, 1))), Op.of(.rotation(isFirst)),
                ]
            }
            try story.write(bob, writing(true), after: [start]) { $0.key = .authority }
            try story.write(carol, writing(false), after: [start]) { $0.key = .authority }
            try all.changes(
                "two-\(turn)", "two types, comments, reminders, claims and rotations", story
            ) {
                $0.records[0].type == .sensitive && $0.records[0].contested == []
            }
        }
        // What a writer's value is beside a removal.
        var story = try Story(bob: .writer)
        let start = try story.write(alice, [Op.create(), Op.value()])
        let value = [Op.ref(start, 1)]
        try story.write(bob, [Op.value(seed: 1, replacing: value)], after: [start])
        try story.write(carol, [Op.of(replacing: value, .remove)], after: [start])
        try all.changes("offer-removal", "a writer's value beside a removal", story) {
            $0.records[0].offers.count == 1 && !$0.records[0].isInUse
        }
        story = try Story(bob: .writer, carol: .writer)
        let again = try story.write(alice, [Op.create(), Op.value()])
        try story.write(bob, [Op.value(seed: 1, replacing: [Op.ref(again, 1)])], after: [again])
        try story.write(carol, [Op.value(seed: 2, replacing: [Op.ref(again, 1)])], after: [again])
        try all.changes("two-writers", "values of two writers and nobody else", story) {
            $0.records[0].choices.count == 2
        }
        let last = try story.write(
            alice, [Op.of(replacing: [Op.ref(again, 1)], .choose(Op.ref(again, 1)))])
        try all.changes("two-offers", "values of two writers beside an admin's choice", story) {
            $0.records[0].offers.count == 2 && $0.records[0].choices.count == 1
        }
        _ = last
        // A writer's value that is written before the role changes stays a writer's.
        story = try Story(bob: .writer)
        let base = try story.write(alice, [Op.create(), Op.value()])
        try story.write(bob, [Op.value(seed: 1, replacing: [Op.ref(base, 1)])], after: [base])
        try story.write(carol, [Op.value(seed: 2, replacing: [Op.ref(base, 1)])], after: [base])
        try story.setRole(bob, .member)
        try all.changes("offer-raised", "an author who was a writer then", story) {
            $0.records[0].offers.count == 1
        }
        story = try Story()
        let old = try story.write(alice, [Op.create(), Op.value()])
        try story.write(bob, [Op.of(replacing: [Op.ref(old, 1)], .remove)], after: [old])
        try all.changes("removed", "a removal alone", story) { !$0.records[0].isInUse }
        try story.write(carol, [Op.value(seed: 2, replacing: [Op.ref(old, 1)])], after: [old])
        try all.changes("removed-meanwhile", "a removal and a value", story) {
            $0.records[0].wasRemovedMeanwhile
        }
    }

    private func offered() throws {
        func show(
            _ name: String, _ description: String, _ isOffered: Bool,
            carol role: GroupRole = .writer,
            _ writing: (inout Story, GroupHash) throws -> Void
        ) throws {
            var story = try Story(bob: .writer, carol: role)
            let start = try story.write(bob, [Op.create(), Op.value()])
            try writing(&story, start)
            try all.changes("offered-\(name)", description, story) {
                $0.records.first { $0.id == Op.record(0) }?.isOffered == isOffered
            }
        }
        try show("alone", "nobody else uses the record", true) { _, _ in }
        try show("writer", "another writer gives it a value", true) {
            try $0.write(carol, [Op.value(seed: 1)], after: [$1])
        }
        try show("writer-create", "another writer creates it too", true) { story, _ in
            try story.write(carol, [Op.create()])
        }
        try show("member-create", "a member creates it too", false) { story, _ in
            try story.write(alice, [Op.create()])
        }
        try show("settled", "an admin settles something", true) {
            try $0.write(alice, [Op.settle("expired"), Op.create(2)], after: [$1])
        }
        let uses: [(String, (GroupHash) -> RecordOperation)] = [
            ("value", { _ in Op.value(seed: 1) }), ("choose", { Op.of(.choose(Op.ref($0, 1))) }),
            ("remove", { _ in Op.of(.remove) }), ("comment", { _ in Op.of(.comment("c")) }),
            ("reminder", { _ in Op.of(.reminder(1)) }),
            ("type", { Op.of(replacing: [Op.ref($0)], .type(.sensitive)) }),
            ("scope", { Op.of(replacing: [Op.ref($0)], .scope(Op.scope(1))) }),
            ("name", { Op.of(replacing: [Op.ref($0)], .name("OTHER")) }),
            ("claim", { Op.of(Op.claim(Op.ref($0, 1))) }),
            ("rotation", { _ in Op.of(.rotation(false)) }),
        ]
        for (name, operation) in uses {
            try show("used-\(name)", "an admin uses it with one operation", false) {
                try $0.write(alice, [operation($1)], after: [$1])
            }
        }
        try show("raised", "the creator became a member", true) { story, _ in
            try story.setRole(bob, .member)
        }
        try show("raised-used", "the creator became a member, and uses it", false) { story, _ in
            try story.setRole(bob, .member)
            try story.write(bob, [Op.value(seed: 1)])
        }
        try show("raised-before", "the creator became a member, and names the entry before", true) {
            story, _ in
            let start = story.group.head
            try story.setRole(bob, .member)
            try story.write(bob, [Op.value(seed: 1)]) { $0.entry = start }
        }
        try show("lowered", "a member used it, and is a writer now", false, carol: .member) {
            story, start in
            let used = try story.write(carol, [Op.value(seed: 1)], after: [start])
            try story.setRole(carol, .writer, cut: [used])
        }
        for isUse in [true, false] {
            // An effective late use does not end the offer; an effective late create does.
            try show(
                isUse ? "late-use" : "late-create",
                isUse ? "only a late change uses it" : "a late change of a member creates it too",
                isUse,
                carol: .member
            ) { story, start in
                let late = try story.write(
                    carol, [isUse ? Op.value(seed: 1) : Op.create()], after: [start], late: .cut)
                try story.write(alice, [Op.create(3)], after: [late])
                try story.remove(carol)
                story.effective = [late]
            }
        }
    }

    private func twins() throws {
        func show(
            _ name: String, _ description: String, _ isTwin: Bool, _ one: Scope, _ two: Scope,
            names: (String, String) = ("KEY", "KEY"), bob role: GroupRole = .member,
            _ writing: (inout Story, GroupHash) throws -> Void = { _, _ in }
        ) throws {
            var story = try Story(bob: role)
            let start = try story.write(alice, [Op.create(0, names.0, one)])
            try story.write(bob, [Op.create(1, names.1, two)], after: [start])
            try writing(&story, start)
            try all.changes("twin-\(name)", description, story) {
                $0.records[0].contested.contains(.twin) == isTwin
                    && $0.records[1].contested.contains(.twin) == isTwin
            }
        }
        try show("target", "one common target", true, Op.scope(3), Op.scope(6))
        try show("none", "no common target", false, Op.scope(1), Op.scope(6))
        try show(
            "environment", "one common environment", true, Op.scope(1, ["a", "b"]),
            Op.scope(2, ["b"]))
        try show(
            "environments", "no common environment", false, Op.scope(1, ["a"]), Op.scope(2, ["b"]))
        try show("branch", "one branch", true, Op.scope(2, branch: "x"), Op.scope(2, branch: "x"))
        try show(
            "branches", "two branches", false, Op.scope(2, branch: "x"), Op.scope(2, branch: "y"))
        try show("no-branch", "a branch and none", false, Op.scope(2, branch: "x"), Op.scope(2))
        try show("names", "other names", false, Op.scope(1), Op.scope(1), names: ("KEY", "key"))
        try show("offered", "one is only offered", false, Op.scope(1), Op.scope(1), bob: .writer)
        try show("removed", "one is not in use", false, Op.scope(1), Op.scope(1)) {
            try $0.write(alice, [Op.of(.remove)], after: [$1])
        }
        try show(
            "second-scope", "the scopes of one record are contested", true, Op.scope(1), Op.scope(4)
        ) { story, start in
            try story.write(alice, [Op.of(replacing: [Op.ref(start)], .scope(Op.scope(2)))]) {
                $0.key = .authority
            }
            try story.write(
                carol, [Op.of(replacing: [Op.ref(start)], .scope(Op.scope(4)))], after: [start]
            ) { $0.key = .authority }
        }
        try show(
            "second-name", "the names of one record are contested", true, Op.scope(1), Op.scope(1),
            names: ("A", "KEY")
        ) { story, start in
            try story.write(alice, [Op.of(replacing: [Op.ref(start)], .name("B"))])
            try story.write(
                carol, [Op.of(replacing: [Op.ref(start)], .name("KEY"))], after: [start])
        }
    }

    private func results() throws {
        var story = try Story()
        let start = try story.write(alice, [Op.create()])
        let mine = TestChain(bob, 70)
        story.continueChain(of: bob, with: mine)
        let late = try story.write(bob, [Op.create(1)], after: [start], late: .cut)
        story.continueChain(of: bob, with: mine)
        let kept = try story.write(bob, [Op.create(2)], after: [start])
        try story.write(carol, [Op.create(3)], after: [late])
        try story.remove(bob, cut: [kept])
        story.effective = [late]
        try all.changes("doubled-effective", "a chain in two places, one of them late", story) {
            $0.doubled.count == 1
        }
        story = try Story()
        let base = try story.write(alice, [Op.create()])
        story.continueChain(of: bob, with: mine)
        try story.write(bob, [Op.create(1)], after: [base])
        story.continueChain(of: bob, with: mine)
        try story.write(bob, [Op.create(2), Op.value(9)], after: [base], late: .record)
        try all.changes("doubled-late", "a chain in two places, one without effect", story) {
            $0.doubled == []
        }

        story = try Story()
        try story.write(alice, [Op.settle("ren\u{E9}"), Op.settle("b"), Op.settle("rene\u{301}")])
        try story.write(alice, [Op.settle("b")])
        let lost = try story.write(bob, [Op.settle("late")], late: .cut)
        try story.write(carol, [Op.create(1)], after: [lost])
        story.effective = [lost]
        try story.remove(bob)
        try all.changes("settled", "settlements, some of which only look the same", story) {
            $0.settled.count == 3
        }

        story = try Story()
        try story.write(alice, [Op.create(0, "ren\u{E9}"), Op.of(.comment("c"))])
        try story.write(bob, [Op.create(1, "rene\u{301}")])
        try all.changes("texts", "names that only look the same", story) {
            $0.records.allSatisfy { !$0.contested.contains(.twin) }
        }

        // A head is in the past of no change that counts; what is late does not hide one.
        story = try Story()
        let head = try story.write(alice, [Op.create()])
        try story.write(bob, [Op.value(9)], after: [head], late: .record)
        try all.changes("heads-late", "a late change follows the head", story) {
            $0.heads == [head]
        }

        // The state words name compartments that only one side of a fork has.
        story = try Story(carol: .admin)
        let fork = story.group.head
        try story.sign(.init(epochsFor: [second]), after: fork)
        try story.sign(.init(voidInvites: [eve.id]), by: carol, after: fork)
        try story.write(alice, [Op.create()]) { $0.entry = fork }
        try all.changes("words", "a compartment that only one side of a fork has", story)
        story = try Story(carol: .admin)
        let again = story.group.head
        try story.sign(.init(voidInvites: [eve.id]), after: again)
        try story.sign(.init(epochsFor: [second]), by: carol, after: again)
        try all.changes("words-other", "the same, made by the other admin", story)
    }
}
