import Vault

@testable import Groups

/// A group whose entries ``EntryAuthor`` makes.
struct AuthoredGroup {
    private(set) var chain: MembershipChain
    private(set) var objects: [[UInt8]]
    private var clock: UInt64 = 1_700_000_000_000

    init(founder: TestMember, compartments: [Identifier], hasOneAdmin: Bool = false) throws {
        let first = try EntryAuthor.founding(
            founder.newMember(.admin), compartments: compartments, hasOneAdmin: hasOneAdmin,
            createdAt: clock, signedBy: founder.authority)
        chain = MembershipChain(group: first.name)
        objects = [first.object]
        try chain.insert(objects)
    }

    /// The group as it was after its first entries.
    init(copying group: AuthoredGroup, upTo count: Int) throws {
        chain = MembershipChain(group: group.chain.group)
        objects = Array(group.objects.prefix(count))
        try chain.insert(objects)
    }

    /// A ring that is built from the entries only.
    func ring(_ member: TestMember) throws -> EpochKeyRing {
        let ring = try EpochKeyRing(member: member.id)
        try ring.update(with: chain, indexBox: member.indexBox, valueBox: member.valueBox)
        return ring
    }

    func author(_ member: TestMember) throws -> EntryAuthor {
        EntryAuthor(
            chain: chain, ring: try ring(member), author: member.id, createdAt: clock + 1_000)
    }

    mutating func insert(_ new: [[UInt8]]) throws {
        try chain.insert(new)
        objects += new.filter { !objects.contains($0) }
    }

    @discardableResult
    mutating func add(_ draft: EntryDraft, by member: TestMember) throws -> AuthoredEntry {
        let entry = try author(member).entry(draft, signedBy: member.authority)
        try insert([entry.object])
        clock += 1_000
        return entry
    }
}
