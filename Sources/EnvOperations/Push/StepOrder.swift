internal import SyncPlan
internal import Vault

/// The requests of a plan as steps, ordered so that as many as possible can share a call: of those
/// that nothing has to precede, the changes come first, then what is new, and last what is deleted.
struct StepOrder {
    private(set) var steps: [PushPlan.Step] = []
    private let state: ProjectState
    /// The requests of each key that are left, in their order.
    private var queues: [String: ArraySlice<PlannedRequest>]
    /// The removed records of the vault, by Vercel's id.
    private let removed: [String: Variable]
    /// By key: the new names of what is there, which should be sent before.
    private var displaced: [String: Set<String>] = [:]

    init(_ plan: ProjectPlan, _ state: ProjectState) {
        self.state = state
        queues = Dictionary(grouping: plan.requests, by: \.key).mapValues { $0[...] }
        removed = Dictionary(
            firstOf: state.variables.filter { !$0.isLive }.compactMap { variable in
                variable.remote.map { ($0.id, variable) }
            })
        let keys = state.keys.map(\.key).filter { queues[$0] != nil }
        for key in state.keys {
            displaced[key.key] = Set(
                key.agreements.compactMap { state.variable($0?.content.version) }
                    .filter { $0.isLive && $0.name != key.key }.map(\.name))
        }
        // Of variables that exchange names, one has to be first.
        while let (rank, isLax) = [false, true].lazy.flatMap({ isLax in
            Self.ranks.map { ($0, isLax) }
        }).first(where: { rank, isLax in keys.contains { isDue($0, rank, isLax) } }) {
            for key in keys.filter({ isDue($0, rank, isLax) }) {
                repeat { take(key) } while isDue(key, rank, isLax)
                if isLax { break }
            }
        }
        // The plan's order has no cycle, so nothing is left; if there were, it would be refused.
        for key in keys { while queues[key]?.isEmpty == false { take(key) } }
    }

    private enum Rank { case deletionFirst, change, creation, deletion }
    private static let ranks: [Rank] = [.deletionFirst, .change, .creation, .deletion]

    private func rank(_ requests: ArraySlice<PlannedRequest>) -> Rank? {
        guard let request = requests.first else { return nil }
        if request.isDeletion { return requests.count > 1 ? .deletionFirst : .deletion }
        return request.subject == nil ? .creation : .change
    }

    /// Returns whether the next request of a key is of that rank, and what it waits for was sent.
    ///
    /// - Parameter isLax: Whether it may precede the new name of what it replaces.
    private func isDue(_ key: String, _ rank: Rank, _ isLax: Bool) -> Bool {
        guard let requests = queues[key], self.rank(requests) == rank else { return false }
        let awaited = (requests.first?.waitsFor ?? []).union(isLax ? [] : displaced[key] ?? [])
        return awaited.allSatisfy { queues[$0]?.allSatisfy(\.onlyRemoves) ?? true }
    }

    private mutating func take(_ key: String) {
        if let request = queues[key]?.popFirst() { steps.append(step(request)) }
    }

    private func step(_ request: PlannedRequest) -> PushPlan.Step {
        let record = request.subject.flatMap { state.records[$0.record] }
        let wanted = VariableAttributes(
            kind: request.type.kind, scope: state.table.scope(request.targets),
            comment: request.comment)
        var variable = state.variable(request.version)
        if let record, request.isDeletion {
            variable = removed[record.id]
        } else if variable?.isLive != true || request.agreed.isEmpty && !request.sendsValue {
            variable = nil
        }
        let action: PushPlan.Action =
            if let record {
                request.isDeletion
                    ? .delete(id: record.id)
                    : .update(id: record.id, withValue: request.sendsValue)
            } else {
                .create
            }
        return PushPlan.Step(
            variable: variable, key: request.key,
            attributes: request.isDeletion ? record?.attributes ?? wanted : wanted, action: action,
            agreed: state.table.scope(request.agreed), waitsFor: request.waitsFor,
            hasKnownValue: !request.sendsValue && request.version?.isReadable == true
                && variable.map { Int(clamping: $0.currentVersion) } == request.version?.number)
    }
}
