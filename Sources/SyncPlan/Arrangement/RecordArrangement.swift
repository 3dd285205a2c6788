/// Which record carries which target afterwards.
///
/// Records are kept, not tidied: each goes on with those of its targets whose value stays, the
/// heaviest first. Two with equal content stay two. What no record can carry is created.
struct RecordArrangement {
    /// By the record's index; nil for a record that is deleted.
    private(set) var futures: [RecordFuture?] = []
    private(set) var created: [(targets: TargetSet, content: Content)] = []
    /// Comments that a target gets because its record has only one.
    private(set) var comments: [(target: Target, comment: String?)] = []
    /// The three ways, with what turned out to be impossible left out.
    let comparison: KeyComparison

    private var impossible: [(target: Target, reason: Omission)] = []

    init(_ comparison: KeyComparison, rules: some RecordRules) {
        self.comparison = comparison
        // Each round leaves out a target that the one before had not.
        repeat {
            // Of two reasons the first one counts.
            for (target, reason) in impossible.reversed() {
                self.comparison.leaveOut(target, reason)
            }
            (futures, created, comments, impossible) = ([], [], [], [])
            arrange(rules)
        } while !impossible.isEmpty
    }

    private var state: KeyState { comparison.state }

    private mutating func arrange(_ rules: some RecordRules) {
        var rest = TargetSet()
        for target in state.targets where comparison.standing(in: target) == .changedHere {
            if comparison.wish(target) != nil { rest.insert(target) }
        }
        for place in state.records.indices {
            let future = future(of: place, rules)
            futures.append(future)
            // What leaves has to go somewhere, even if it is the same on both sides.
            for target in state.records[place].targets where comparison.wish(target) != nil {
                if !comparison.isPinned(target) { rest.insert(target) }
            }
        }
        for future in futures { rest = rest.subtracting(future?.kept ?? []) }
        place(rest, rules)
    }

    private mutating func future(of place: Int, _ rules: some RecordRules) -> RecordFuture? {
        let record = state.records[place]
        let pinned = TargetSet(record.targets.lazy.filter(comparison.isPinned))
        var future = RecordFuture(
            version: comparison.version(of: place), type: record.type, comment: record.comment)
        if record.owner == .platform {
            future.kept = record.targets
            return future
        }
        guard pinned.isEmpty else {
            // After another request nothing would show any more whose value a doubtful record has.
            if comparison.resolution.doubtful.contains(place) {
                impossible += record.targets.subtracting(pinned).map { ($0, .sharesRecord) }
            }
            keep(besides: pinned, in: &future, of: record, rules)
            return future
        }
        guard let (targets, content) = heaviestPart(of: place, rules) else { return nil }
        future.kept = rules.carried(of: targets, of: content.type)
        (future.version, future.type) = (content.version, content.type)
        future.comment = comment(of: future.kept, insteadOf: record.comment)
        return future
    }

    /// Keeps in a record with pinned targets those others that want just what it has.
    private mutating func keep(
        besides pinned: TargetSet, in future: inout RecordFuture, of record: ListedRecord,
        _ rules: some RecordRules
    ) {
        future.kept = pinned
        for target in record.targets.subtracting(pinned) {
            guard let wish = comparison.wish(target) else { continue }
            guard wish.version == future.version else { continue }
            let isLightest = pinned.allSatisfy { $0 < target }
            if wish.type == record.type, wish.comment == record.comment {
                future.kept.insert(target)
            } else if wish.type == record.type || !isLightest {
                // Only the lightest target may be without its value until it is created again.
                impossible.append((target, .sharesRecord))
            }
        }
        // A team's new policy would refuse the rest of the record, or change its type.
        if future.kept != record.targets, !rules.allows(future.kept, of: record.type) {
            impossible += record.targets.subtracting(pinned).map { ($0, .refused) }
        }
    }

    /// Returns the targets of a record that go on in it, with their heaviest one's wish; nil for none.
    private func heaviestPart(of place: Int, _ rules: some RecordRules)
        -> (targets: TargetSet, content: Content)?
    {
        let record = state.records[place]
        let held = comparison.version(of: place)
        var parts: [(targets: TargetSet, content: Content)] = []
        for target in record.targets {
            guard let wish = comparison.wish(target), rules.canChange(record.type, to: wish.type)
            else { continue }
            let isSame = { (part: (targets: TargetSet, content: Content)) in
                part.content.version == wish.version && part.content.type == wish.type
            }
            if let part = parts.firstIndex(where: isSame) {
                parts[part].targets.insert(target)
            } else {
                parts.append(([target], wish))
            }
        }
        // Targets come heaviest first, and so do the parts.
        return parts.first { $0.content.version == held } ?? parts.first
    }

    /// Returns the comment of a record that carries these targets: the heaviest changed one's.
    private mutating func comment(of targets: TargetSet, insteadOf old: String?) -> String? {
        let wishes = targets.map { (target: $0, comment: comparison.wish($0)?.comment) }
        let comment = wishes.first { $0.comment != old }.map(\.comment) ?? old
        comments += wishes.filter { $0.comment != comment }.map { ($0.target, comment) }
        return comment
    }

    /// Finds a record for each target that no record kept.
    private mutating func place(_ rest: TargetSet, _ rules: some RecordRules) {
        var groups: [(content: Content, targets: TargetSet)] = []
        for target in rest {
            guard let wish = comparison.wish(target) else { continue }
            if let group = groups.firstIndex(where: { $0.content == wish }) {
                groups[group].targets.insert(target)
            } else {
                groups.append((wish, [target]))
            }
        }
        for group in groups {
            let content = group.content
            var targets = group.targets
            guard content.version.isReadable else {
                impossible += targets.map { ($0, .unreadable) }
                continue
            }
            for place in futures.indices where !targets.isEmpty {
                guard let future = futures[place], future.content == content,
                    state.records[place].owner == .project,
                    !state.records[place].targets.contains(where: comparison.isPinned)
                else { continue }
                let joining = rules.carried(of: targets, with: future.kept, of: content.type)
                futures[place]?.joining = joining
                targets = targets.subtracting(joining)
            }
            while !targets.isEmpty {
                let carried = rules.carried(of: targets, of: content.type)
                guard !carried.isEmpty else {
                    impossible += targets.map { ($0, .refused) }
                    break
                }
                created.append((carried, content))
                targets = targets.subtracting(carried)
            }
        }
    }
}
