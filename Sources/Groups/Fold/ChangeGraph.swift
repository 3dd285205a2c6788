/// The placed changes of a compartment, in an order in which the past comes first.
struct ChangeGraph {
    /// Ancestors come before their descendants.
    private(set) var changes: [ReceivedChange] = []
    private(set) var waiting: [GroupHash: WaitingReason] = [:]
    private(set) var places: [GroupHash: Int] = [:]
    /// The places of each change's parents and of the change before it, one after the other.
    private var edges: [Int32] = []
    private var firstEdges: [Int32] = [0]

    /// Places changes of one group and compartment; each name once.
    init(_ received: [ReceivedChange], chain: MembershipChain) {
        var all: [GroupHash: ReceivedChange] = [:]
        all.reserveCapacity(received.count)
        for change in received { all[change.name] = change }
        var missing: [GroupHash: Int] = [:]
        var children: [GroupHash: [GroupHash]] = [:]
        var ready: [GroupHash] = []
        for (name, change) in all {
            let predecessors = change.header.predecessors
            let present = predecessors.filter { all[$0] != nil }
            if present.count < predecessors.count {
                waiting[name] = .parents
            } else if let reason = Self.entryReason(change, chain) {
                waiting[name] = reason
            }
            missing[name] = present.count
            for predecessor in present { children[predecessor, default: []].append(name) }
            if present.isEmpty { ready.append(name) }
        }
        places.reserveCapacity(all.count)
        changes.reserveCapacity(all.count)
        while let name = ready.popLast() {
            guard let change = all[name] else { continue }
            if waiting[name] == nil { place(change) }
            for child in children[name] ?? [] {
                if waiting[name] != nil { waiting[child] = .parents }
                missing[child, default: 0] -= 1
                if missing[child] == 0 { ready.append(child) }
            }
        }
    }

    private static func entryReason(
        _ change: ReceivedChange, _ chain: MembershipChain
    ) -> WaitingReason? {
        let header = change.header
        if let link = chain.link(header.entry), link.entry.number == header.entryNumber,
            change.operations != nil
        {
            return nil
        }
        return chain.hasEntry(numbered: header.entryNumber) && chain.link(header.entry) == nil
            ? .split : .entry
    }

    private mutating func place(_ change: ReceivedChange) {
        places[change.name] = changes.count
        changes.append(change)
        for predecessor in change.header.predecessors {
            if let place = places[predecessor] { edges.append(Int32(place)) }
        }
        firstEdges.append(Int32(edges.count))
    }

    func predecessors(_ place: Int) -> ArraySlice<Int32> {
        edges[Int(firstEdges[place])..<Int(firstEdges[place + 1])]
    }

    /// Returns which changes are in the past of any of some changes, or are one of them.
    func past(including names: [GroupHash]) -> [Bool] {
        var marks = [Bool](repeating: false, count: changes.count)
        for name in names { if let place = places[name] { marks[place] = true } }
        for place in marks.indices.reversed() where marks[place] {
            for predecessor in predecessors(place) { marks[Int(predecessor)] = true }
        }
        return marks
    }
}
