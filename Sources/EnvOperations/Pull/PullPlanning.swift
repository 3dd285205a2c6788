internal import Vault

/// Decides what a pull does with each record by itself.
struct PullPlanning {
    enum SendDecision {
        case nothing
        case unchanged(Variable)
        case ahead(Variable)
        case forgotten(Identifier)
        /// Vercel does not list its record and may only hide it.
        case unlisted(Variable)
        case conflict(RecordNote)
        /// Left unchanged, because Vercel did not show its value.
        case unread(RecordNote)
        /// A change, and a note about a value that is not shown.
        case step(PullPlan.Step, RecordNote?)
    }

    let evidence: PullPlan.Evidence
    let rules: PullPlan.Rules
    /// Whether Vercel listed every record that it has.
    let isComplete: Bool

    func sendDecision(of pair: PullPairs.Pair) -> SendDecision {
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

    private func created(_ record: VercelRecord) -> SendDecision {
        let state = state(of: record)
        var step = PullPlan.Step(
            variable: nil, record: record, attributes: record.attributes,
            action: .create(withValue: state.isShown))
        switch state {
        case .shown: return .step(step, nil)
        case .hidden: return .step(step, RecordNote(record, "Vercel does not show its value"))
        case .withheld:
            // Not recorded as agreed, so that the next pull asks again and a push does not
            // overwrite it.
            step.staysBehind = true
            return .step(
                step,
                RecordNote(record, "Vercel did not return its value; the next pull will retry")
            )
        }
    }

    private func withoutRecord(_ variable: Variable, _ pair: PullPairs.Pair) -> SendDecision {
        guard variable.remote != nil else { return variable.isLive ? .ahead(variable) : .nothing }
        guard isComplete else { return variable.isLive ? .unlisted(variable) : .nothing }
        guard variable.isLive else { return .forgotten(variable.id) }
        // The former name alone does not select a renamed variable.
        if let keys = rules.keys, !keys.contains(variable.name) { return .ahead(variable) }
        guard !pair.isChangedHere || rules.forces(variable) else {
            return .conflict(
                note(
                    variable, "it was changed in the vault and removed on Vercel",
                    variable.currentVersion > 0 ? .gone : .removing))
        }
        return .step(
            PullPlan.Step(
                variable: variable, record: nil, attributes: variable.attributes, action: .remove),
            nil)
    }

    /// Handles a record that did not change on Vercel since both sides agreed.
    private func seen(
        _ variable: Variable, _ record: VercelRecord, _ pair: PullPairs.Pair
    ) -> SendDecision {
        if pair.isChangedHere { return .ahead(variable) }
        guard variable.currentVersion == 0 else { return .unchanged(variable) }
        // The vault never had the value, but Vercel may show it by now.
        if case .shown = state(of: record) { return taken(variable, record) }
        return .unread(RecordNote(record, "Vercel does not show its value"))
    }

    // MARK: Both sides

    private func neverPushed(_ variable: Variable, _ record: VercelRecord) -> SendDecision {
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
                    "Vercel has a variable that the vault has no record of\(uncompared(record))",
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
        _ variable: Variable, _ record: VercelRecord, _ pair: PullPairs.Pair
    ) -> SendDecision {
        let isSame =
            variable.isLive && variable.attributes == record.attributes
            && variable.name == record.key
        if isSame && (!pair.isValueChangedHere || evidence.equalities[variable.id] == true) {
            return taken(variable, record)
        }
        // A hidden value cannot replace the vault's.
        if rules.forces(variable) && (state(of: record).isShown || !pair.isValueChangedHere) {
            return taken(variable, record)
        }
        let who = record.phrase(for: record.updatedBy, as: rules.ownUser)
        return .conflict(
            note(
                variable,
                variable.isLive
                    ? "it was changed in the vault and on Vercel\(who)\(uncompared(record))"
                    : "it was removed in the vault and changed on Vercel\(who)",
                .init(record, of: variable)))
    }

    /// Takes Vercel's version in place of the vault's.
    private func taken(_ variable: Variable, _ record: VercelRecord) -> SendDecision {
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
                    step(withValue: false), RecordNote(record, "Vercel does not show its value"))
            }
            // A value that the user requested by name cannot be taken.
            if rules.keys != nil, rules.forces(variable), variable.isLive {
                return .conflict(
                    note(
                        variable,
                        "it was changed on Vercel, but cannot be pulled because Vercel does not show its value",
                        .sending))
            }
            var undecided = step(withValue: false)
            undecided.staysBehind = true
            guard record.integration == nil else {
                return .step(
                    undecided,
                    RecordNote(
                        record,
                        "an integration changed it, and Vercel does not show the new value; the vault still has the older one"
                    ))
            }
            return .step(
                undecided,
                RecordNote(
                    record,
                    "it was changed on Vercel, which does not show the new value; the variable stays out of sync until you push it with --force"
                ))
        case .withheld:
            // Not recorded as agreed, so that the next pull asks again and a push does not
            // overwrite it.
            return .unread(
                RecordNote(record, "Vercel did not return its value; it was left unchanged"))
        case .shown:
            let isEqual = variable.currentVersion > 0 && evidence.equalities[variable.id] == true
            return .step(step(withValue: !isEqual), nil)
        }
    }

    // MARK: Words

    private func state(of record: VercelRecord) -> PullPlan.ValueState {
        if record.attributes.kind == .sensitive { return .hidden }
        // No token of a person opens what an integration stored.
        return evidence.states[record.id] ?? (record.integration == nil ? .withheld : .hidden)
    }

    private func uncompared(_ record: VercelRecord) -> String {
        if record.attributes.kind == .sensitive { return "; its value cannot be compared" }
        return evidence.canCompare ? "" : "; values are locked and were not compared"
    }

    private func note(
        _ variable: Variable, _ reason: String, _ way: RecordNote.Way = .either
    ) -> RecordNote {
        .init(key: variable.name, scope: variable.attributes.scope, reason: reason, way: way)
    }
}

extension PullPlan.ValueState {
    fileprivate var isShown: Bool {
        if case .shown = self { true } else { false }
    }
}
