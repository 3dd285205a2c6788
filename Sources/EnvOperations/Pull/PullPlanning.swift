internal import Vault

/// Judges each record of a pull on its own. Pure.
struct PullPlanning {
    enum Judgement {
        case nothing
        case unchanged(Variable)
        case ahead(Variable)
        case forgotten(Identifier)
        case conflict(RecordNote)
        /// Left as it is, since the platform did not show its value.
        case unread(RecordNote)
        /// A change, and what is to be said of a value that is not shown.
        case step(PullPlan.Step, RecordNote?)
    }

    private let evidence: PullPlan.Evidence
    private let rules: PullPlan.Rules

    init(evidence: PullPlan.Evidence, rules: PullPlan.Rules) {
        self.evidence = evidence
        self.rules = rules
    }

    func judgement(of pair: PullPairs.Pair) -> Judgement {
        guard let variable = pair.variable else {
            return pair.record.map(created) ?? .nothing
        }
        guard let record = pair.record else { return withoutRecord(variable, pair) }
        guard variable.remote != nil else { return neverPushed(variable, record) }
        if !pair.isChangedThere { return seen(variable, record, pair) }
        if !pair.isChangedHere { return taken(variable, record) }
        return changedOnBothSides(variable, record, pair)
    }

    // MARK: One side

    private func created(_ record: PlatformRecord) -> Judgement {
        let state = state(of: record)
        var step = PullPlan.Step(
            variable: nil, record: record, attributes: record.attributes,
            action: .create(withValue: state.isShown))
        switch state {
        case .shown: return .step(step, nil)
        case .hidden: return .step(step, note(record, "the platform does not show its value"))
        case .withheld:
            // Not agreed, so that the next pull asks again and a push does not overwrite it.
            step.staysBehind = true
            return .step(
                step,
                note(record, "the platform did not show its value; the next pull asks for it again")
            )
        }
    }

    private func withoutRecord(_ variable: Variable, _ pair: PullPairs.Pair) -> Judgement {
        guard variable.remote != nil else { return variable.isLive ? .ahead(variable) : .nothing }
        guard variable.isLive else { return .forgotten(variable.id) }
        // Its former name alone does not select a renamed variable.
        if let keys = rules.keys, !keys.contains(variable.name) { return .ahead(variable) }
        guard !pair.isChangedHere || rules.forces(variable) else {
            return .conflict(
                note(
                    variable, "it was changed here, and removed on the platform",
                    variable.currentVersion > 0 ? .gone : .removing))
        }
        return .step(
            PullPlan.Step(
                variable: variable, record: nil, attributes: variable.attributes, action: .remove),
            nil)
    }

    /// Nothing changed there since both sides agreed.
    private func seen(
        _ variable: Variable, _ record: PlatformRecord, _ pair: PullPairs.Pair
    ) -> Judgement {
        if pair.isChangedHere { return .ahead(variable) }
        guard variable.currentVersion == 0 else { return .unchanged(variable) }
        // The vault never had the value; the platform may show it by now.
        if case .shown = state(of: record) { return taken(variable, record) }
        return .unread(note(record, "the platform does not show its value"))
    }

    // MARK: Both sides

    private func neverPushed(_ variable: Variable, _ record: PlatformRecord) -> Judgement {
        if variable.currentVersion == 0 || rules.forces(variable) && state(of: record).isShown {
            return taken(variable, record)
        }
        let (ours, theirs) = (variable.attributes, record.attributes)
        guard evidence.equalities[variable.id] == true, ours.kind == theirs.kind,
            ours.comment == nil || theirs.comment == nil || ours.comment == theirs.comment
        else {
            return .conflict(
                note(
                    variable,
                    "the platform has one that this vault has not seen\(uncompared(record))",
                    .init(record, sendsValue: true)))
        }
        var attributes = ours
        attributes.comment = ours.comment ?? theirs.comment
        return .step(
            PullPlan.Step(
                variable: variable, record: record, attributes: attributes,
                action: attributes == ours ? .agree : .update(withValue: false)), nil)
    }

    private func changedOnBothSides(
        _ variable: Variable, _ record: PlatformRecord, _ pair: PullPairs.Pair
    ) -> Judgement {
        let isSame =
            variable.isLive && variable.attributes == record.attributes
            && variable.name == record.key
        if isSame && (!pair.isValueChangedHere || evidence.equalities[variable.id] == true) {
            return taken(variable, record)
        }
        // What the platform does not show cannot be taken in place of what the vault has.
        if rules.forces(variable) && (state(of: record).isShown || !pair.isValueChangedHere) {
            return taken(variable, record)
        }
        let who = record.phrase(for: record.updatedBy, as: rules.ownUser)
        return .conflict(
            note(
                variable,
                variable.isLive
                    ? "it was changed here, and on the platform\(who)\(uncompared(record))"
                    : "it was removed here, and changed on the platform\(who)",
                .init(record, of: variable)))
    }

    /// The platform's state, in place of what the vault has.
    private func taken(_ variable: Variable, _ record: PlatformRecord) -> Judgement {
        func step(withValue: Bool) -> PullPlan.Step {
            let isSame =
                !withValue && variable.isLive && variable.attributes == record.attributes
                && variable.name == record.key
            return PullPlan.Step(
                variable: variable, record: record, attributes: record.attributes,
                action: isSame ? .agree : .update(withValue: withValue))
        }
        switch state(of: record) {
        case .hidden:
            guard variable.currentVersion > 0 else {
                return .step(
                    step(withValue: false), note(record, "the platform does not show its value"))
            }
            // Nobody can take what was asked for by name.
            if rules.keys != nil, rules.forces(variable), variable.isLive {
                return .conflict(
                    note(
                        variable,
                        "it was changed on Vercel, which does not show its value, so that a pull cannot take it",
                        .sending))
            }
            var undecided = step(withValue: false)
            undecided.staysBehind = true
            return .step(
                undecided,
                note(
                    record,
                    "it was changed on the platform, which does not show its value; the vault keeps the one it has, and it stays behind until that is pushed by force"
                ))
        case .withheld:
            // Not agreed, so that the next pull asks again and a push does not overwrite it.
            return .unread(
                note(record, "the platform did not show its value; it was left as it is"))
        case .shown:
            let isEqual = variable.currentVersion > 0 && evidence.equalities[variable.id] == true
            return .step(step(withValue: !isEqual), nil)
        }
    }

    // MARK: Words

    private func state(of record: PlatformRecord) -> PullPlan.ValueState {
        if record.attributes.kind == .sensitive { return .hidden }
        return evidence.states[record.id] ?? .withheld
    }

    private func uncompared(_ record: PlatformRecord) -> String {
        if record.attributes.kind == .sensitive { return "; its value cannot be compared" }
        return evidence.canCompare ? "" : "; values are locked and were not compared"
    }

    private func note(
        _ variable: Variable, _ reason: String, _ way: RecordNote.Way = .either
    ) -> RecordNote {
        .init(key: variable.name, scope: variable.attributes.scope, reason: reason, way: way)
    }

    private func note(_ record: PlatformRecord, _ reason: String) -> RecordNote {
        .init(key: record.key, scope: record.attributes.scope, reason: reason)
    }
}

extension PullPlan.ValueState {
    fileprivate var isShown: Bool {
        if case .shown = self { true } else { false }
    }
}
