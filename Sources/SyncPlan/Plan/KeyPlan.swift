/// What a push does with one key.
package struct KeyPlan: Equatable, Sendable {
    /// In the order of `PlanOrder`. No request overlaps a record that exists then.
    package private(set) var requests: [PlannedRequest] = []
    package private(set) var conflicts: [TargetNote<Conflict>] = []
    package private(set) var leftOut: [TargetNote<Omission>] = []
    /// What only Vercel's side changed: to be pulled.
    package private(set) var behind: TargetSet = []
    /// Targets that would be sent, or be a conflict, if the user had selected them. Conflicts and
    /// what is behind are reported for every target.
    package private(set) var notSelected: TargetSet = []
    /// Targets with a wish where the listing shows just that, agreed on before or not.
    package private(set) var same: TargetSet = []
    /// Targets that are without their value between two requests, because no record can be in two
    /// forms: their value changes, or their record's type does for some of its targets only. Of two
    /// variables that exchange names, one may be without a name.
    package internal(set) var gaps: TargetSet = []
    /// Targets whose value becomes readable on the platform.
    package private(set) var exposed: TargetSet = []
    /// Comments that the vault takes over, because a record has only one.
    package private(set) var comments: [TargetNote<String?>] = []
    /// The agreements without any request, by the target's position: those that the journal and the
    /// listing give. To be written before the first request, and the journal's requests taken out.
    package private(set) var agreements: [Agreement?] = []
    /// Whether all that the vault wants is, or will be, on the platform.
    private(set) var isWhole = true
    /// Journal entries whose outcome stays unknown, as indices.
    package private(set) var open: [Int] = []

    init(_ arrangement: RecordArrangement) {
        let comparison = arrangement.comparison
        let state = comparison.state
        agreements = Self.agreements(comparison)
        open = comparison.resolution.open
        for target in state.targets {
            switch comparison.standing(in: target) {
            case .conflict(let reason): conflicts.append(TargetNote(target, reason, in: state))
            case .leftOut(let reason): leftOut.append(TargetNote(target, reason, in: state))
            case .changedThere: behind.insert(target)
            case .notSelected: notSelected.insert(target)
            case .same, .changedHere: break
            }
        }
        isWhole =
            conflicts.isEmpty && leftOut.isEmpty
            && notSelected.allSatisfy { state.wishes[$0.position] == nil }
        requests = PlanOrder(arrangement).requests
        comments = arrangement.comments.map { TargetNote($0.target, $0.comment, in: state) }
        for target in state.targets where comparison.standing(in: target) == .same {
            // A hidden record says nothing.
            guard let wish = state.wishes[target.position], let there = comparison.wish(target)
            else { continue }
            same.insert(target)
            if wish.comment != there.comment, !comments.contains(where: { $0.target == target }) {
                comments.append(TargetNote(target, there.comment, in: state))
            }
        }
        for target in state.targets where !comparison.isPinned(target) {
            guard let place = state.record(in: target), let wish = comparison.wish(target) else {
                continue
            }
            let isReleased = requests.contains { $0.released.contains(target) }
            if isReleased { gaps.insert(target) }
            if !state.records[place].type.isReadable, wish.type.isReadable {
                exposed.insert(target)
            }
        }
    }

    /// The agreements of what is the same on both sides, or was seen to be as agreed.
    private static func agreements(_ comparison: KeyComparison) -> [Agreement?] {
        let state = comparison.state
        return state.targets.map { target in
            let known = comparison.resolution.agreements[target.position]
            guard let place = state.record(in: target) else {
                // Its absence is agreed on, if the listing proves it.
                let isGone = comparison.standing(in: target) == .same && state.isListingComplete
                return isGone ? nil : known
            }
            guard comparison.standing(in: target) == .same || comparison.isAsAgreed(target),
                let content = comparison.content(of: place)
            else { return known }
            let record = state.records[place]
            return Agreement(record: record.id, witness: record.witness, content: content)
        }
    }
}
