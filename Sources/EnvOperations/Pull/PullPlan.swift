package import Vault

/// What a pull would change in the vault, computed from the vault, what both sides last agreed on,
/// and the platform as it is now. Pure: it knows of values only whether they are shown and equal.
///
/// A plan with conflicts is not to be applied.
package struct PullPlan: Equatable, Sendable {
    /// What to do with one record of the vault.
    package enum Action: Equatable, Sendable {
        /// Make it; without a value where the platform shows none.
        case create(withValue: Bool)
        /// Change it; the value too, or only what stands beside it.
        case update(withValue: Bool)
        /// Only keep what was seen: both sides say the same.
        case agree
        /// Take it out of use; its history stays.
        case remove
        /// Take places or the name from it that a record of Vercel's has from now on. Nothing of it is agreed
        /// on.
        case narrow
    }

    /// One change of the vault.
    package struct Step: Equatable, Sendable {
        /// The vault's record; nil for a new one.
        package let variable: Variable?
        /// The platform's record; nil where it is gone.
        package let record: PlatformRecord?
        /// What the vault's record is to be beside its value.
        package let attributes: VariableAttributes
        /// What to do.
        package let action: Action
        /// Tells that the platform may hold another value than the vault, which nobody can see: the
        /// record goes on counting as changed there, until a push or the user decides.
        package var staysBehind = false
        /// The name that it gets back where it was renamed here; nil for the one that it has.
        package var formerName: String?

        /// The key afterwards.
        package var key: String { record?.key ?? formerName ?? variable?.name ?? "" }

        /// Tells whether a value that the vault has changes, goes, or goes from a place or a name.
        package var changesLocalValue: Bool {
            guard let variable, variable.isLive, variable.currentVersion > 0 else { return false }
            switch action {
            case .create, .agree: return false
            case .remove, .narrow: return true
            case .update(let withValue):
                return withValue || variable.name != key
                    || !variable.attributes.scope.subtracting(attributes.scope).isEmpty
            }
        }
    }

    /// What the platform's answer said of a value.
    package enum ValueState: Equatable, Sendable {
        /// It never shows values of this type.
        case hidden
        /// It shows values of this type, but did not show this one.
        case withheld
        /// It showed the value, which may be an empty one.
        case shown(isEmpty: Bool)
    }

    /// What is known of values.
    package struct Evidence: Equatable, Sendable {
        /// What the platform showed, by its ids; only of records that had to be looked at.
        package var states: [String: ValueState]
        /// Whether a record of the vault holds what the platform showed for it, by the vault's ids;
        /// missing where that was not compared.
        package var equalities: [Identifier: Bool]
        /// Tells that values could be compared at all.
        package var canCompare: Bool

        /// Names all parts.
        package init(
            states: [String: ValueState] = [:], equalities: [Identifier: Bool] = [:],
            canCompare: Bool = true
        ) {
            self.states = states
            self.equalities = equalities
            self.canCompare = canCompare
        }
    }

    /// What the caller wants.
    package struct Rules: Equatable, Sendable {
        /// Take what the platform has where both sides changed, and where the vault's records are in its
        /// way.
        package var force = false
        /// Keys to look at; nil for all.
        package var keys: Set<String>?
        /// Targets and custom environments to look at; nil for all.
        package var places: Scope?
        /// The platform's ids of records that are not taken in, and stand for no change.
        package var skipped: Set<String> = []
        /// The platform's id of the user of this program, for messages; nil where it is not known.
        package var ownUser: String?

        /// Wants everything.
        package init() {}
    }

    /// What to do, by key.
    package private(set) var steps: [Step] = []
    /// Records that are the same on both sides.
    package private(set) var unchanged: [Variable] = []
    /// Records changed here only, or never pushed: left for a push.
    package private(set) var ahead: [Variable] = []
    /// Changes on both sides.
    package private(set) var conflicts: [RecordNote] = []
    /// Records whose value the platform does not show.
    package private(set) var unreadable: [RecordNote] = []
    /// Readable values that are empty.
    package private(set) var empty: [RecordNote] = []
    /// Removed records whose platform record is gone too: nothing is left but to forget it.
    package private(set) var forgotten: [Identifier] = []
    /// Tells that every value that is to be stored over another one was compared with it.
    package private(set) var compared = true

    /// Plans.
    ///
    /// - Parameters:
    ///   - variables: All records of the project, removed ones included.
    ///   - platform: All records of the platform's project that can be taken in.
    package init(
        variables: [Variable], platform: [PlatformRecord], evidence: Evidence, rules: Rules
    ) {
        let pairs = PullPairs(variables: variables, platform: platform, rules: rules)
        let planning = PullPlanning(evidence: evidence, rules: rules)
        for pair in pairs.pairs where rules.includes(pair) {
            switch planning.judgement(of: pair) {
            case .nothing: break
            case .unchanged(let variable): unchanged.append(variable)
            case .ahead(let variable): ahead.append(variable)
            case .forgotten(let id): forgotten.append(id)
            case .conflict(let note): conflicts.append(note)
            case .unread(let note): unreadable.append(note)
            case .step(let step, let note):
                steps.append(step)
                if let note { unreadable.append(note) }
            }
        }
        if rules.force { makeRoom(among: variables, platform, evidence, rules) }
        refuseOverlaps(among: variables, rules)
        for step in steps {
            guard let record = step.record else { continue }
            if evidence.states[record.id] == .shown(isEmpty: true) {
                empty.append(
                    RecordNote(
                        key: step.key, scope: record.attributes.scope, reason: "its value is empty")
                )
            }
            if case .update(withValue: true) = step.action, let variable = step.variable,
                variable.currentVersion > 0, evidence.equalities[variable.id] == nil,
                !evidence.canCompare
            {
                compared = false
            }
        }
    }

    /// Has records of the vault make room for what Vercel has in their places: one takes a record over
    /// that has all of its places, others keep what is left, or go. Their values stay in the history.
    private mutating func makeRoom(
        among variables: [Variable], _ platform: [PlatformRecord], _ evidence: Evidence,
        _ rules: Rules
    ) {
        var waiting = variables.filter { variable in
            variable.isLive && rules.forces(variable)
                && !steps.contains { $0.variable?.id == variable.id }
        }
        // One that gets its old name back may be in the way of another one there.
        while let place = waiting.firstIndex(where: { variable in
            steps.contains { $0.takes(the: variable) }
        }) {
            let variable = waiting.remove(at: place)
            let scope = variable.attributes.scope
            let places = steps.indices.filter { steps[$0].takes(the: variable) }
            // A value that is not shown replaces none.
            let isShown = places.allSatisfy {
                steps[$0].action == .narrow || evidence.shows(steps[$0].record)
            }
            guard isShown || variable.currentVersion == 0 else { continue }
            ahead.removeAll { $0.id == variable.id }
            var rest = places.reduce(scope) { $0.subtracting(steps[$1].attributes.scope) }
            var formerName: String?
            if let remote = variable.remote {
                // Its own record stays what it is there.
                guard let own = platform.first(where: { $0.id == remote.id }) else { continue }
                if own.key != variable.name { formerName = own.key }
                if rest.isEmpty || formerName != nil { rest = own.attributes.scope }
            } else if rest.isEmpty, let place = places.first(where: { steps[$0].variable == nil }) {
                steps[place] = steps[place].takingOver(variable)
                continue
            }
            var attributes = variable.attributes
            if !rest.isEmpty { attributes.scope = rest }
            var step = Step(
                variable: variable, record: nil, attributes: attributes,
                action: rest.isEmpty ? .remove : .narrow)
            step.formerName = formerName
            steps.append(step)
        }
    }

    /// Takes back steps after which one key would have two records for one place: one of the vault
    /// that was never pushed is there, or the platform contradicts itself.
    private mutating func refuseOverlaps(among variables: [Variable], _ rules: Rules) {
        while let (place, scope, other) = firstOverlap(among: variables) {
            let step = steps.remove(at: place)
            let along = step.variable.flatMap { known in
                rules.force && other.map { !rules.forces($0) } ?? false ? known.name : nil
            }
            let isHidden = step.record?.attributes.kind == .sensitive
            conflicts.append(
                RecordNote(
                    key: step.key, scope: step.attributes.scope,
                    reason: "the vault has, or would have, another one for \(scope.description)",
                    way: isHidden
                        ? .sending
                        : along.map { .takingAlong($0) } ?? (rules.force ? .overriding : .either)))
            let place = step.record?.attributes.scope
            unreadable.removeAll { $0.key == step.key && $0.scope == place }
        }
    }

    /// - Returns: A step, and what is in its way: the record of the vault where it is no other step's.
    private func firstOverlap(
        among variables: [Variable]
    ) -> (place: Int, scope: Scope, other: Variable?)? {
        let touched = Set(steps.compactMap { $0.variable?.id })
        var taken: [String: [(scope: Scope, variable: Variable?)]] = [:]
        for variable in variables where variable.isLive && !touched.contains(variable.id) {
            taken[variable.name, default: []].append((variable.attributes.scope, variable))
        }
        for (place, step) in steps.enumerated() where step.action != .remove {
            let scope = step.attributes.scope
            if let other = taken[step.key]?.first(where: { $0.scope.overlaps(scope) }) {
                return (place, other.scope, other.variable)
            }
            taken[step.key, default: []].append((scope, nil))
        }
        return nil
    }

    /// Records of the platform whose values have to be looked at for a plan: new ones, and those that
    /// may have changed there. The vault's record is the one to compare with.
    package static func valuesNeeded(
        variables: [Variable], platform: [PlatformRecord], rules: Rules
    ) -> [(record: PlatformRecord, variable: Variable?)] {
        PullPairs(variables: variables, platform: platform, rules: rules).pairs.compactMap { pair in
            guard rules.includes(pair), let record = pair.record,
                record.attributes.kind != .sensitive, pair.mayBringValue
            else { return nil }
            return (record, pair.variable)
        }
    }
}

extension PullPlan.Evidence {
    /// Tells whether Vercel showed the value of a record.
    fileprivate func shows(_ record: PlatformRecord?) -> Bool {
        guard let record, case .shown = states[record.id] else { return false }
        return true
    }
}

extension PullPlan.Step {
    /// Tells whether it needs the place that a record of the vault has.
    fileprivate func takes(the variable: Variable) -> Bool {
        action != .remove && key == variable.name
            && attributes.scope.overlaps(variable.attributes.scope)
    }

    /// The same of a record that the vault has, in place of a new one.
    fileprivate func takingOver(_ variable: Variable) -> PullPlan.Step {
        var step = PullPlan.Step(
            variable: variable, record: record, attributes: attributes,
            action: .update(withValue: bringsValue))
        step.staysBehind = staysBehind
        return step
    }
}

extension PullPlan.Rules {
    /// Tells whether what the vault has of a record may be replaced: the user said so, of this key or of
    /// all.
    func forces(_ variable: Variable) -> Bool {
        force && (keys?.contains(variable.name) ?? true)
    }

    func includes(_ pair: PullPairs.Pair) -> Bool {
        let names = [pair.variable?.name, pair.record?.key, pair.variable?.remote?.key]
        if let keys, !names.contains(where: { $0.map(keys.contains) ?? false }) { return false }
        guard let places else { return true }
        let scopes = [
            pair.variable?.attributes.scope, pair.record?.attributes.scope,
            pair.variable?.remote?.agreed.scope,
        ]
        return scopes.contains { scope in
            guard let scope else { return false }
            return !scope.targets.isDisjoint(with: places.targets)
                || !Set(scope.customEnvironments).isDisjoint(with: places.customEnvironments)
        }
    }
}
