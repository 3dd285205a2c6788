import Sealing
import Testing
import Vault

@testable import Groups

@Suite("Invites and joins")
struct InviteTests {
    private let alice = TestPool.members[0]
    private let bob = TestPool.members[1]
    private let carol = TestPool.members[2]
    private let invite = TestRandom.identifier("invite", 0)

    private func code(_ byte: UInt8 = 1) throws -> GroupInviteCode {
        try GroupInviteCode(TestRandom.secret([UInt8](repeating: byte, count: 16)))
    }

    private func group() throws -> TestGroup {
        try TestGroup(
            founder: alice, compartments: [TestPool.compartments[0]], others: [(bob, .member)])
    }

    private func inviteObject(
        _ group: TestGroup, by author: TestMember? = nil, signedBy signer: TestMember? = nil,
        of other: GroupHash? = nil
    ) throws -> [UInt8] {
        let code = try code()
        let pair = try code.signingKeyPair(for: invite)
        return try Invite(
            id: invite, group: other ?? group.group, entryNumber: 1, entry: group.head,
            author: (author ?? alice).id, createdAt: 1_000, endsAt: 2_000, person: nil,
            name: "carol", rights: MemberRights(role: .member), isAutomatic: false,
            codeKey: pair.publicKey
        ).signed(with: (signer ?? author ?? alice).authority, code: code)
    }

    private func join(
        _ group: TestGroup, by member: TestMember, code byte: UInt8 = 1, of other: GroupHash? = nil
    ) throws -> [UInt8] {
        let pair = try code(byte).signingKeyPair(for: invite)
        return Join(
            group: other ?? group.group, invite: invite, member: member.id, keys: member.keys,
            createdAt: 1_500
        ).signed(write: member.write, authority: member.authority, code: pair)
    }

    private func select(
        _ group: TestGroup, _ object: [UInt8], _ joins: [[UInt8]], now: UInt64 = 1_500
    ) throws -> JoinSelection {
        try JoinSelection(
            invite: object, joins: joins, group: group.group, state: group.state, now: now)
    }

    @Test func `admit the only join that fits`() throws {
        let group = try group()
        let object = try inviteObject(group)
        #expect(try Invite.accept(object, code: code()).id == invite)
        #expect(throws: GroupError.self) { try Invite.accept(object, code: code(2)) }
        let right = try join(group, by: carol)
        var changed = right
        changed[100] ^= 1
        let noise = [
            try join(group, by: bob, code: 2), try join(group, by: bob, of: GroupHash(of: [1])),
            changed, [1, 2, 3],
        ]
        #expect(try select(group, object, noise) == JoinSelection.none)
        #expect(
            try select(group, object, noise + [right, right])
                == .join(Join.decode(right), GroupHash(of: right)))
    }

    @Test func `admit neither of two`() throws {
        let group = try group()
        let object = try inviteObject(group)
        let joins = [try join(group, by: carol), try join(group, by: TestPool.members[3])]
        #expect(try select(group, object, joins) == .ambiguous)
    }

    @Test func `admit nobody by an invite that does not count`() throws {
        var group = try group()
        let object = try inviteObject(group)
        let joins = [try join(group, by: carol)]
        #expect(try select(group, object, joins, now: 2_000) == .refused(.over))
        #expect(
            try select(group, try inviteObject(group, by: bob), joins) == .refused(.author))
        #expect(
            try select(group, try inviteObject(group, signedBy: bob), joins)
                == .refused(.signature))
        #expect(
            try select(group, try inviteObject(group, of: GroupHash(of: [1])), joins)
                == .refused(.group))
        let origin = Admission.Origin(invite: invite, join: GroupHash(of: joins[0]))
        var used = group
        try used.add(.init(admissions: [carol.admission(.member, origin: origin)]), by: alice)
        #expect(used.state.members[carol.id]?.isActive == true)
        #expect(try select(used, object, joins) == .refused(.used))
        try group.add(.init(voidInvites: [invite]), by: alice)
        #expect(try select(group, object, joins) == .refused(.void))
    }

    @Test func `have limits that are checked before anything is read`() throws {
        let limits: [(GroupLabel, Int)] = [
            (.entry, GroupLimits.entry), (.change, GroupLimits.change),
            (.invite, GroupLimits.invite), (.join, GroupLimits.join),
        ]
        for (label, limit) in limits {
            for count in [0, 15, limit + 1] {
                let object = Array(
                    (label.bytes + [UInt8](repeating: 0, count: limit)).prefix(count))
                func code(_ body: () throws(GroupError) -> Void) -> GroupError.Code? {
                    do throws(GroupError) {
                        try body()
                        return nil
                    } catch { return error.code }
                }
                let found: GroupError.Code? =
                    switch label {
                    case .entry: code { () throws(GroupError) in _ = try Entry.decode(object) }
                    case .change: code { () throws(GroupError) in _ = try Change(object) }
                    case .invite: code { () throws(GroupError) in _ = try Invite.decode(object) }
                    default: code { () throws(GroupError) in _ = try Join.decode(object) }
                    }
                #expect(found == .length, "\(label) of \(count) bytes")
            }
        }
    }
}
