import Sealing
import Testing
import Vault

@testable import Groups

@Suite("An author of entries")
struct EntryAuthorTests {
    private let alice = TestPool.members[0]
    private let bob = TestPool.members[1]
    private let carol = TestPool.members[2]
    private let dan = TestPool.members[3]
    private let web = TestPool.compartments[0]
    private let api = TestPool.compartments[1]
    private let other = TestPool.compartments[2]

    /// A group of alice (admin), bob (member) and carol (writer of one project).
    private func group(
        hasOneAdmin: Bool = false, secondAdmin: Bool = false
    ) throws -> AuthoredGroup {
        var group = try AuthoredGroup(
            founder: alice, compartments: [web, api], hasOneAdmin: hasOneAdmin)
        try group.add(
            .init(admissions: [
                bob.newMember(secondAdmin ? .admin : .member),
                carol.newMember(.writer, limit: [web]),
            ]), by: alice)
        return group
    }

    private func refusal(
        _ draft: EntryDraft, by author: TestMember? = nil, in group: AuthoredGroup? = nil,
        signedBy signer: TestMember? = nil
    ) throws -> EntryDraftError.Code? {
        let group = try group ?? self.group()
        let entryAuthor = try group.author(author ?? alice)
        do throws(EntryDraftError) {
            _ = try entryAuthor.entry(
                draft, signedBy: (signer ?? author ?? alice).authority)
            return nil
        } catch {
            #expect(!error.reason.isEmpty && !error.reason.hasSuffix("."))
            return error.code
        }
    }

    @Test func `refuses who is not an admin, and another key`() throws {
        let draft = EntryDraft(renewedEpochs: [web])
        #expect(try refusal(draft) == nil)
        #expect(try refusal(draft, by: bob) == .author)
        #expect(try refusal(draft, by: dan) == .author)
        #expect(try refusal(draft, signedBy: bob) == .author)
        var group = try group(secondAdmin: true)
        try group.add(.init(removals: [Removal(member: bob.id, cut: Cut())]), by: alice)
        #expect(try refusal(draft, by: bob, in: group) == .author)
        #expect(throws: EntryDraftError.self) {
            _ = try EntryAuthor.founding(
                alice.newMember(.member), compartments: [web], hasOneAdmin: false, createdAt: 1,
                signedBy: alice.authority)
        }
        #expect(throws: EntryDraftError.self) {
            _ = try EntryAuthor.founding(
                alice.newMember(.admin), compartments: [web], hasOneAdmin: false, createdAt: 1,
                signedBy: bob.authority)
        }
    }

    @Test func `refuses members that are unknown, removed, used before or named twice`() throws {
        var group = try group()
        try group.add(.init(removals: [Removal(member: bob.id, cut: Cut())]), by: alice)
        func refuses(_ draft: EntryDraft, _ group: AuthoredGroup? = nil) throws -> Bool {
            try refusal(draft, in: group) == .member
        }
        for member in [bob, dan] {
            #expect(try refuses(.init(removals: [.init(member: member.id, cut: Cut())]), group))
            #expect(
                try refuses(
                    .init(roles: [.init(member: member.id, rights: .init(role: .admin))]), group))
            #expect(
                try refuses(
                    .init(keyReplacements: [
                        .init(member: member.id, keys: TestPool.members[9].keys, cut: Cut())
                    ]), group))
        }
        for member in [bob, carol] {
            #expect(try refuses(.init(admissions: [member.newMember(.reader)]), group))
        }
        #expect(
            try refuses(.init(admissions: [dan.newMember(.reader), dan.newMember(.reader)])))
        #expect(
            try refuses(
                .init(
                    roles: [.init(member: carol.id, rights: .init(role: .admin))],
                    removals: [.init(member: carol.id, cut: Cut())])))
    }

    @Test func `refuses names that a terminal should not show`() throws {
        let long = String(repeating: "n", count: GroupLimits.memberName)
        let names: [(String, EntryDraftError.Code?)] = [
            ("", .name), (" \u{2003}", .name), (long, nil), (long + "n", .name),
            ("a\u{1B}[2J", .name), ("a\nb", .name), ("a\u{202E}b", .name), ("a\u{2028}", .name),
            ("a\u{E000}", .name), ("Zoë 漢字", nil),
        ]
        for (name, code) in names {
            let new = Admission(
                member: dan.id, person: dan.person, name: name, rights: .init(role: .reader),
                keys: dan.keys)
            #expect(try refusal(.init(admissions: [new])) == code, "\(name.utf8.count) bytes")
        }
    }

    @Test func `refuses keys that are used, or cannot be sealed to`() throws {
        func refusal(_ keys: MemberKeys) throws -> EntryDraftError.Code? {
            let new = Admission(
                member: dan.id, person: dan.person, name: "dan", rights: .init(role: .reader),
                keys: keys)
            return try self.refusal(.init(admissions: [new]))
        }
        let zeros = [UInt8](repeating: 0, count: 32)
        let keys = dan.keys
        func with(
            authority: [UInt8]? = nil, indexBox: [UInt8]? = nil, valueBox: [UInt8]? = nil
        ) -> MemberKeys {
            MemberKeys(
                write: keys.write, authority: authority ?? keys.authority,
                indexBox: indexBox ?? keys.indexBox, valueBox: valueBox ?? keys.valueBox)
        }
        #expect(try refusal(keys) == nil)
        #expect(try refusal(bob.keys) == .key)
        #expect(try refusal(with(authority: bob.keys.authority)) == .key)
        #expect(try refusal(with(authority: keys.write)) == .key)
        #expect(try refusal(with(indexBox: zeros)) == .key)
        #expect(try refusal(with(valueBox: zeros)) == .key)
        #expect(try refusal(with(valueBox: [1, 2, 3])) == .key)
        // Also the own keys again.
        #expect(
            try self.refusal(
                .init(keyReplacements: [.init(member: bob.id, keys: bob.keys, cut: Cut())]))
                == .key)
    }

    @Test func `refuses invites that are used or void`() throws {
        var group = try group()
        let invites = (0..<3).map { TestRandom.identifier("invite", $0) }
        func new(_ member: TestMember, _ invite: Int) -> Admission {
            member.newMember(
                .init(role: .reader),
                origin: .init(invite: invites[invite], join: GroupHash(of: [1])))
        }
        try group.add(
            .init(admissions: [new(dan, 0)], voidInvites: [invites[1]]), by: alice)
        let (eve, fay) = (TestPool.members[4], TestPool.members[5])
        #expect(try refusal(.init(admissions: [new(eve, 0)]), in: group) == .invite)
        #expect(try refusal(.init(admissions: [new(eve, 1)]), in: group) == .invite)
        #expect(try refusal(.init(admissions: [new(eve, 2)]), in: group) == nil)
        #expect(
            try refusal(.init(admissions: [new(eve, 2), new(fay, 2)]), in: group) == .invite)
        #expect(
            try refusal(
                .init(admissions: [new(eve, 2)], voidInvites: [invites[2]]), in: group)
                == .invite)
    }

    @Test func `refuses to leave no admin, and a second one in a group for one`() throws {
        let removal = EntryDraft(removals: [.init(member: alice.id, cut: Cut())])
        let lowering = EntryDraft(roles: [
            .init(member: alice.id, rights: .init(role: .reader), cut: Cut())
        ])
        let raise = RoleChange(member: bob.id, rights: .init(role: .admin))
        for draft in [removal, lowering] { #expect(try refusal(draft) == .lastAdmin) }
        #expect(try refusal(.init(roles: [raise])) == nil)
        let single = try group(hasOneAdmin: true)
        #expect(try refusal(.init(roles: [raise]), in: single) == .oneAdmin)
        #expect(
            try refusal(.init(admissions: [dan.newMember(.admin)]), in: single) == .oneAdmin)
        // It can hand over.
        let over = EntryDraft(roles: lowering.roles + [raise])
        #expect(try refusal(over, in: single) == nil)
    }

    @Test func `refuses entries that change nothing`() throws {
        #expect(try refusal(.init()) == .noChange)
        #expect(
            try refusal(.init(roles: [.init(member: bob.id, rights: .init(role: .member))]))
                == .noChange)
        #expect(
            try refusal(
                .init(roles: [
                    .init(member: carol.id, rights: .init(role: .writer, limit: [web, web]))
                ])) == .noChange)
    }

    @Test func `refuses a raise with a cut, and a lowering without one`() throws {
        let changes: [(TestMember, MemberRights, isRaise: Bool)] = [
            (bob, .init(role: .admin), true), (bob, .init(role: .writer), false),
            (bob, .init(role: .member, limit: [web]), false),
            (bob, .init(role: .reader), false),
            (carol, .init(role: .writer), true),
            (carol, .init(role: .member, limit: [api, web]), true),
            (carol, .init(role: .member, limit: [api]), false),
            (carol, .init(role: .reader, limit: [web]), false),
        ]
        for (member, rights, isRaise) in changes {
            for cut in [nil, Cut()] {
                let draft = EntryDraft(roles: [
                    .init(member: member.id, rights: rights, cut: cut)
                ])
                let isRight = isRaise == (cut == nil)
                #expect(try refusal(draft) == (isRight ? nil : .cut))
            }
        }
    }

    @Test func `refuses first epochs of shared projects, and new ones of others`() throws {
        #expect(try refusal(.init(firstEpochs: [web])) == .epoch)
        #expect(try refusal(.init(renewedEpochs: [other])) == .epoch)
        #expect(try refusal(.init(firstEpochs: [other], renewedEpochs: [web])) == nil)
    }

    @Test func `refuses what exceeds the format's bounds`() throws {
        let many = (0...GroupLimits.limit).map { TestRandom.identifier("many", $0) }
        let exact = Array(many.dropLast())
        func limited(_ role: GroupRole, _ limit: [Identifier]) -> EntryDraft {
            .init(admissions: [dan.newMember(role, limit: limit)])
        }
        #expect(try refusal(limited(.admin, [])) == .bounds)
        #expect(try refusal(limited(.reader, exact)) == nil)
        #expect(try refusal(limited(.reader, many)) == .bounds)
        #expect(try refusal(.init(voidInvites: exact)) == nil)
        #expect(try refusal(.init(voidInvites: many)) == .bounds)
        let hashes = many.map { GroupHash(of: $0.bytes) }
        func removal(_ heads: [Identifier: [GroupHash]]) -> EntryDraft {
            .init(removals: [.init(member: bob.id, cut: Cut(heads: heads))])
        }
        #expect(try refusal(removal([web: Array(hashes.dropLast())])) == nil)
        #expect(try refusal(removal([web: hashes])) == .bounds)
        let removals = many.map { Removal(member: $0, cut: Cut()) }
        #expect(try refusal(.init(removals: removals)) == .bounds)
        // 1,000 projects with 27 recipients each would take more than 8 MiB.
        var group = try group()
        try group.add(
            .init(admissions: TestPool.members[4..<30].map { $0.newMember(.reader) }), by: alice)
        #expect(try refusal(.init(firstEpochs: exact), in: group) == .bounds)
        let projects = (0...GroupLimits.compartments).map { TestRandom.identifier("many", $0) }
        #expect(try refusal(.init(firstEpochs: projects)) == .bounds)
    }

    @Test func `refuses to pass on keys that its ring lacks`() throws {
        let group = try group(secondAdmin: true)
        func refusal(_ draft: EntryDraft, _ ring: EpochKeyRing) throws -> EntryDraftError? {
            do throws(EntryDraftError) {
                _ = try EntryAuthor(
                    chain: group.chain, ring: ring, author: alice.id, createdAt: 1
                ).entry(draft, signedBy: alice.authority)
                return nil
            } catch { return error }
        }
        let empty = try EpochKeyRing(member: alice.id)
        let locked = try EpochKeyRing(member: alice.id)
        try locked.update(with: group.chain, indexBox: alice.indexBox)
        for ring in [empty, locked] {
            let error = try refusal(.init(renewedEpochs: [api]), ring)
            #expect(error?.code == .missingKey && error?.compartment == api)
            #expect(
                try refusal(.init(admissions: [dan.newMember(.reader)]), ring)?.code
                    == .missingKey)
            #expect(try refusal(.init(firstEpochs: [other]), ring) == nil)
        }
        // A writer gets index keys only.
        #expect(try refusal(.init(admissions: [dan.newMember(.writer)]), locked) == nil)
        #expect(
            try refusal(.init(admissions: [dan.newMember(.writer)]), empty)?.code == .missingKey)
    }

    @Test func `seals nothing to its author that the author loses`() throws {
        let group = try group(secondAdmin: true)
        let leaving = try group.author(alice).entry(
            .init(removals: [.init(member: alice.id, cut: Cut())]), signedBy: alice.authority)
        let left = try Entry.decode(leaving.object).epochs
        #expect(left.map(\.compartment) == [web, api])
        #expect(left.allSatisfy { $0.keys(of: alice.id) == nil })
        let lowered = try group.author(alice).entry(
            .init(roles: [
                .init(member: alice.id, rights: .init(role: .writer, limit: [web]), cut: Cut())
            ]), signedBy: alice.authority)
        let epochs = try Entry.decode(lowered.object).epochs
        #expect(epochs.map(\.compartment) == [web, api])
        #expect(epochs[0].keys(of: alice.id).map { $0.valueBox == nil } == true)
        #expect(epochs[1].keys(of: alice.id) == nil)
    }
}
