/// The three ways of a key, target by target: what both sides agreed on, what the vault wants, and
/// what the listing shows.
///
/// A class, because copies of it took a quarter of the time of a plan. It never leaves the planner.
final class KeyComparison {
    let state: KeyState
    let resolution: SendResolution
    /// What Vercel's record has, as far as it is known, by the record's index.
    private(set) var held: [ListedRecord.Value] = []
    /// By the target's position.
    private(set) var standings: [Standing] = []
    /// Targets that are the same on both sides, and that no other record could carry.
    private var immovable = TargetSet()

    /// - Parameters:
    ///   - isWantedElsewhere: Whether the vault wants a version, whose value it does not have, under
    ///     another key.
    ///   - waiting: The targets that must stay, because the variable's new name could not be sent; by
    ///     position, with that name.
    init(
        _ state: KeyState, rules: some RecordRules, waiting: [Int: String],
        isWantedElsewhere: (Version) -> Bool
    ) {
        self.state = state
        resolution = SendResolution(state)
        for place in state.records.indices { held.append(value(of: place)) }
        for target in state.targets { standings.append(standing(of: target)) }
        for (position, name) in waiting where standings[position] == .changedHere {
            standings[position] = .leftOut(.waits(for: name))
        }
        leaveOutHiddenRecords()
        leaveOutFinalTypes(rules)
        leaveOutWhatIsRefused(by: rules)
        leaveOutWhatCannotMove(isWantedElsewhere)
    }

    /// Returns what the vault wants in a target; where both sides are the same, what the platform has.
    func wish(_ target: Target) -> Content? {
        guard standing(in: target) == .same else { return state.wishes[target.position] }
        return state.record(in: target).flatMap(content)
    }

    func standing(in target: Target) -> Standing { standings[target.position] }

    /// Returns whether the target keeps what it has, in the record that has it.
    func isPinned(_ target: Target) -> Bool {
        standing(in: target).isPinned || immovable.contains(target)
            || state.hidden.contains(target) || !state.choices.includes(target)
    }

    /// Returns whether the platform has in a target what both sides agreed on.
    func isAsAgreed(_ target: Target) -> Bool {
        isEqual(state.record(in: target), resolution.agreements[target.position]?.content)
    }

    /// Returns the content of a record; nil if its value is no version of the vault.
    func content(of place: Int) -> Content? {
        guard case .equal(let version) = held[place] else { return nil }
        return Content(version, state.records[place].type, comment: state.records[place].comment)
    }

    func version(of place: Int) -> Version? {
        guard case .equal(let version) = held[place] else { return nil }
        return version
    }

    /// Leaves a target as it is, in the record that has it.
    func leaveOut(_ target: Target, _ reason: Omission) {
        if standing(in: target) == .same {
            immovable.insert(target)
        } else {
            standings[target.position] = .leftOut(reason)
        }
    }

    /// A record that is as agreed has the agreed value. Every other one has what reading it showed.
    private func value(of place: Int) -> ListedRecord.Value {
        let record = state.records[place]
        if resolution.doubtful.contains(place) { return .unknown }
        let agreed = resolution.agreements.lazy.compactMap(\.self).first {
            $0.record == record.id && $0.witness == record.witness
        }
        return agreed.map { .equal($0.content.version) } ?? record.value
    }

    private func isEqual(_ place: Int?, _ content: Content?) -> Bool {
        place.map { content != nil && self.content(of: $0) == content } ?? (content == nil)
    }

    private func standing(of target: Target) -> Standing {
        let wish = state.wishes[target.position]
        let place = state.record(in: target)
        let choices = state.choices
        let plain = threeWay(wish, resolution.agreements[target.position]?.content, place)
        // Neither side's absence is known, or production must not be written unseen.
        let isHidden =
            state.hidden.contains(target)
            || !state.isListingComplete && place == nil
                && resolution.agreements[target.position] != nil
        if isHidden {
            let isWanted =
                place != nil
                ? plain != .same && plain != .changedThere
                : wish != resolution.agreements[target.position]?.content
            return isWanted ? .leftOut(.hidden) : place == nil ? .same : plain
        }
        var standing = plain
        if choices.force, case .conflict = plain { standing = .changedHere }
        if case .changedThere = plain {
            let isKnown = wish != nil || resolution.agreements[target.position] != nil
            if isKnown ? choices.force : choices.pruned.contains(target) { standing = .changedHere }
        }
        guard standing == .changedHere else { return standing }
        switch place.map({ state.records[$0].owner }) {
        case .platform where wish == nil: return .same
        case _ where !choices.includes(target): return .notSelected
        case .platform: return .conflict(.notOurs)
        case .integration where !choices.force: return .conflict(.managedByIntegration)
        case .integration, .project, nil: return .changedHere
        }
    }

    private func threeWay(_ wish: Content?, _ base: Content?, _ place: Int?) -> Standing {
        if isEqual(place, wish) || isAdoptable(place, wish, base) { return .same }
        // What may be ours is sent again, whatever it is.
        if place.map(resolution.doubtful.contains) ?? false { return .changedHere }
        if isEqual(place, base) { return .changedHere }
        if place.map({ state.records[$0].owner == .platform }) ?? false {
            return wish == nil ? .same : .conflict(.notOurs)
        }
        if wish == base { return .changedThere }
        if place == nil { return .conflict(.removedThere) }
        return .conflict(base == nil ? .unseenThere : .changedThere)
    }

    /// Returns whether a value that the vault never sent is on the platform, with a comment that the
    /// vault has none of.
    private func isAdoptable(_ place: Int?, _ wish: Content?, _ base: Content?) -> Bool {
        guard base == nil, var wish, wish.comment == nil, let place else { return false }
        wish.comment = state.records[place].comment
        return content(of: place) == wish
    }

    /// A record with a hidden target is not written, whatever else it carries.
    private func leaveOutHiddenRecords() {
        for record in state.records where !record.targets.isDisjoint(with: state.hidden) {
            for target in record.targets where standing(in: target) == .changedHere {
                leaveOut(target, .hidden)
            }
        }
    }

    /// A record that cannot have the type that is wished for its variable is deleted by force only. What could not be created
    /// again either is left out for that reason.
    private func leaveOutFinalTypes(_ rules: some RecordRules) {
        if state.choices.force { return }
        for target in state.targets where standing(in: target) == .changedHere {
            guard let place = state.record(in: target), let wish = wish(target),
                resolution.agreements[target.position]?.content.version.variable
                    == wish.version.variable,
                !rules.canChange(state.records[place].type, to: wish.type),
                wish.version.isReadable, rules.allows([target], of: wish.type)
            else { continue }
            leaveOut(target, .typeIsFinal)
        }
    }

    private func leaveOutWhatIsRefused(by rules: some RecordRules) {
        let candidates = TargetSet(
            state.targets.filter { standing(in: $0) == .changedHere && wish($0) != nil })
        if candidates.isEmpty { return }
        let outcome = state.targets.map { target in
            isPinned(target)
                ? state.record(in: target).flatMap(content) : wish(target)
        }
        for target in rules.refused(of: candidates, in: outcome) { leaveOut(target, .refused) }
    }

    /// A value that the vault does not have stays in the record that has it. A wish for it elsewhere is
    /// left out, and so is what would then replace the value.
    private func leaveOutWhatCannotMove(_ isWantedElsewhere: (Version) -> Bool) {
        var fixed = Set(
            state.records.indices.filter { version(of: $0).map(isWantedElsewhere) ?? false })
        for target in state.targets {
            guard let wish = wish(target), !wish.version.isReadable else { continue }
            let holder = state.records.indices.first { version(of: $0) == wish.version }
            if let holder, state.records[holder].targets.contains(target) { continue }
            if standing(in: target) == .changedHere { leaveOut(target, .unreadable) }
            // In one of its own targets it is wanted too, or is not replaced.
            let stays = holder.map { place in
                state.records[place].targets.contains { own in
                    isPinned(own) || self.wish(own)?.version == wish.version
                }
            }
            if let holder, stays == false { fixed.insert(holder) }
        }
        for place in fixed {
            for target in state.records[place].targets
            where standing(in: target) == .changedHere {
                leaveOut(target, .valueWantedElsewhere)
            }
        }
    }
}
