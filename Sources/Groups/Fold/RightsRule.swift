internal import Vault

/// The rule of `docs/group-format.md`, section 6.3: which changes count at the newest entries.
struct RightsRule {
    private let graph: ChangeGraph
    private let chain: MembershipChain
    /// Which changes each cut covers, by the entry of the cut and the member.
    private var cuts: [CutKey: [Bool]] = [:]

    private struct CutKey: Hashable {
        let entry: GroupHash
        let member: Identifier
    }

    init(_ graph: ChangeGraph, chain: MembershipChain) {
        self.graph = graph
        self.chain = chain
    }

    /// Whether a role may do some operations; no role but reader may do none.
    static func allows(_ role: GroupRole, _ operations: [RecordOperation]) -> Bool {
        switch role {
        case .admin, .member: true
        case .writer:
            operations.allSatisfy {
                switch $0.operation {
                case .create, .value: true
                default: false
                }
            }
        case .reader: false
        }
    }

    /// Whether a member has all rights that a change needs.
    private static func holds(
        _ member: MembershipState.Member, _ change: ReceivedChange, key: [UInt8]
    ) -> Bool {
        member.hasAccess(to: change.header.compartment)
            && allows(member.rights.role, change.operations ?? [])
            && Self.key(of: member, change.header.key) == key
    }

    private static func key(
        of member: MembershipState.Member, _ kind: ChangeHeader.Key
    ) -> [UInt8] {
        kind == .write ? member.keys.write : member.keys.authority
    }

    /// The lowerings that keep a change from counting; nil if it counts.
    ///
    /// An empty list means that the author lost a right without a lowering, at a joining entry.
    mutating func obstacles(of place: Int) -> [GroupHash]? {
        let change = graph.changes[place]
        guard let author = chain.link(change.header.entry)?.state.members[change.header.author]
        else { return [] }
        let key = Self.key(of: author, change.header.key)
        var found: [GroupHash]?
        for state in chain.headStates {
            guard let now = state.members[change.header.author] else {
                found = found ?? []
                continue
            }
            if Self.holds(now, change, key: key) { continue }
            let ending = lastEnding(
                (state.lowerings[change.header.author] ?? []).filter {
                    Self.holds($0.before, change, key: key)
                        && !Self.holds($0.after, change, key: key)
                })
            let isCovered = !ending.isEmpty && ending.allSatisfy { covers($0, change, place) }
            if !isCovered { found = (found ?? []) + ending.map(\.entry) }
        }
        return found
    }

    /// Leaves out lowerings that another one follows.
    private func lastEnding(_ lowerings: [Lowering]) -> [Lowering] {
        guard lowerings.count > 1 else { return lowerings }
        return lowerings.filter { lowering in
            !lowerings.contains {
                $0.entry != lowering.entry && chain.isSameOrBefore(lowering.entry, $0.entry)
            }
        }
    }

    private mutating func covers(
        _ lowering: Lowering, _ change: ReceivedChange, _ place: Int
    ) -> Bool {
        let key = CutKey(entry: lowering.entry, member: change.header.author)
        let covered =
            cuts[key]
            ?? graph.past(including: lowering.cut.heads(in: change.header.compartment))
        cuts[key] = covered
        return covered[place]
    }
}
