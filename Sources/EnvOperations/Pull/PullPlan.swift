package import Vault

/// The changes that a pull would make in the vault, computed from the vault, the state that both
/// sides last agreed on, and the current state of Vercel. Of values it only knows whether they are
/// shown and equal.
///
/// Variables with a conflict are left unchanged; the steps do not depend on them.
package struct PullPlan: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        /// Create it; without a value if Vercel shows none.
        case create(withValue: Bool)
        /// Change it, with its value or only its attributes.
        case update(withValue: Bool)
        /// Only record what was seen, because both sides are the same.
        case agree
        /// Mark it as removed; its history stays.
        case remove
        /// Remove targets or its name that a record from Vercel gets. It stays unsynced.
        case narrow
    }

    package struct Step: Equatable, Sendable {
        /// The vault's record; nil for a new one.
        package let variable: Variable?
        /// Vercel's record; nil if it is gone.
        package let record: VercelRecord?
        /// The new attributes of the vault's record.
        package let attributes: VariableAttributes
        package let action: Action
        /// Whether Vercel may have a different value that is not shown. The record then still counts as
        /// changed on Vercel until a push or the user decides.
        package var staysBehind = false
        /// The name that a variable renamed in the vault gets back; nil to keep its name.
        package var formerName: String?

        /// The key afterwards.
        package var key: String { record?.key ?? formerName ?? variable?.name ?? "" }

        /// Whether the vault gets a value from Vercel.
        package var takesValue: Bool {
            switch action {
            case .create(let withValue), .update(let withValue): withValue
            case .agree, .remove, .narrow: false
            }
        }

        /// Whether a live variable of the vault would no longer be for production.
        fileprivate var leavesProduction: Bool {
            guard let variable, variable.isLive, action != .agree else { return false }
            return variable.attributes.scope.targets.contains(.production)
                && !attributes.scope.targets.contains(.production)
        }

        /// Whether a value in the vault changes, or loses its record, a target or its name.
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

    /// Whether Vercel showed a value.
    package enum ValueState: Equatable, Sendable {
        /// Vercel does not show values of this type.
        case hidden
        /// Vercel shows values of this type, but not this one.
        case withheld
        /// Vercel showed the value, which may be empty.
        case shown(isEmpty: Bool)
    }

    /// What is known about values.
    package struct Evidence: Equatable, Sendable {
        /// Whether Vercel showed the values, by its ids; only for records whose values are needed.
        package var states: [String: ValueState]
        /// Whether a record's value is the one that Vercel showed, by the vault's ids; missing if
        /// not compared.
        package var equalities: [Identifier: Bool]
        /// Whether values could be compared at all.
        package var canCompare: Bool

        package init(
            states: [String: ValueState] = [:], equalities: [Identifier: Bool] = [:],
            canCompare: Bool = true
        ) {
            self.states = states
            self.equalities = equalities
            self.canCompare = canCompare
        }
    }

    /// What the caller selects.
    package struct Rules: Equatable, Sendable {
        /// Whether to take Vercel's version if both sides changed or if the vault's records are in
        /// the way.
        package var force = false
        /// The keys; nil for all.
        package var keys: Set<String>?
        /// Targets and custom environments; nil for all.
        package var places: Scope?
        /// Vercel's ids of records that are not imported and do not count as changes.
        package var skipped: Set<String> = []
        /// Vercel's id of this program's user, for messages; nil if unknown.
        package var ownUser: String?
        /// The side that the user chose for records of the vault with a conflict.
        package var decisions: [Identifier: PullConflict.Side] = [:]

        package init() {}
    }

    /// Sorted by key.
    package private(set) var steps: [Step] = []
    /// Records that are the same on both sides.
    package private(set) var unchanged: [Variable] = []
    /// Records only changed in the vault or never pushed, which a push handles.
    package private(set) var ahead: [Variable] = []
    /// Records that changed on both sides, or whose scopes overlap.
    package private(set) var conflicts: [PullConflict] = []
    /// Decided conflicts in which the vault's version stays and Vercel's counts as seen.
    package private(set) var kept: [PullConflict] = []
    /// Records whose value Vercel does not show.
    package private(set) var unreadable: [RecordNote] = []
    /// Readable values that are empty.
    package private(set) var empty: [RecordNote] = []
    /// Removed records that are gone on Vercel too and can be forgotten.
    package private(set) var forgotten: [Identifier] = []
    /// Records that Vercel does not list and may only hide. Nothing of them changes.
    package private(set) var unlisted: [Variable] = []
    /// Whether every value that replaces another one was compared with it.
    package private(set) var compared = true

    /// - Parameters:
    ///   - variables: All records of the project, including removed ones.
    ///   - platform: All importable records of the project on Vercel.
    package init(
        variables: [Variable], platform: ListedRecords, evidence: Evidence, rules: Rules
    ) {
        let pairs = PullPairs(variables: variables, platform: platform, rules: rules)
        let planning = PullPlanning(
            evidence: evidence, rules: rules, isComplete: platform.isComplete)
        for pair in pairs.pairs where rules.includes(pair) {
            switch planning.sendDecision(of: pair) {
            case .nothing: break
            case .unchanged(let variable): unchanged.append(variable)
            case .ahead(let variable): ahead.append(variable)
            case .forgotten(let id): forgotten.append(id)
            case .unlisted(let variable): unlisted.append(variable)
            case .conflict(let note):
                let conflict = PullConflict(note, of: pair, evidence)
                if conflict.isDecided(by: rules, for: .vault) {
                    kept.append(conflict)
                } else {
                    conflicts.append(conflict)
                }
            case .unread(let note): unreadable.append(note)
            case .step(let step, _)
            where !platform.isComplete && step.leavesProduction:
                // A hidden variable may have production now.
                if let variable = step.variable { unlisted.append(variable) }
            case .step(let step, let note):
                steps.append(step)
                if let note { unreadable.append(note) }
            }
        }
        let moved = makeRoom(among: variables, platform, evidence, rules)
        rejectOverlaps(among: variables, rules, moved)
        for step in steps {
            guard let record = step.record else { continue }
            if evidence.states[record.id] == .shown(isEmpty: true) {
                empty.append(RecordNote(record, "its value is empty"))
            }
            if case .update(withValue: true) = step.action, let variable = step.variable,
                variable.currentVersion > 0, evidence.equalities[variable.id] == nil,
                !evidence.canCompare
            {
                compared = false
            }
        }
    }

    /// Removes records of the vault from the scopes that Vercel's records have: one replaces a
    /// record whose scope it covers completely, others keep the rest or are removed. Their values
    /// stay in the history.
    ///
    /// - Returns: The narrowed and removed records.
    private mutating func makeRoom(
        among variables: [Variable], _ platform: ListedRecords, _ evidence: Evidence,
        _ rules: Rules
    ) -> Set<Identifier> {
        var moved: Set<Identifier> = []
        // What has a conflict, or was kept, stays as it is.
        let settled = Set((conflicts + kept).compactMap { $0.variable?.id })
        var waiting = variables.filter { variable in
            variable.isLive && rules.forces(variable) && !settled.contains(variable.id)
                && !steps.contains { $0.variable?.id == variable.id }
        }
        // A record that gets its old name back may be in the way of another one.
        while let place = waiting.firstIndex(where: { variable in
            steps.contains { $0.takes(the: variable) }
        }) {
            let variable = waiting.remove(at: place)
            let scope = variable.attributes.scope
            let places = steps.indices.filter { steps[$0].takes(the: variable) }
            // A hidden value does not replace a known one.
            let isShown = places.allSatisfy {
                steps[$0].action == .narrow || evidence.shows(steps[$0].record)
            }
            guard isShown || variable.currentVersion == 0 else { continue }
            ahead.removeAll { $0.id == variable.id }
            var rest = places.reduce(scope) { $0.subtracting(steps[$1].attributes.scope) }
            var formerName: String?
            if let remote = variable.remote {
                // Its own record on Vercel stays unchanged.
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
            moved.insert(variable.id)
        }
        return moved
    }

    /// Turns steps into conflicts if a key would get two records for one scope, because the vault
    /// has one that was never pushed, or Vercel's list is contradictory.
    ///
    /// - Parameter moved: The records that made room for others.
    private mutating func rejectOverlaps(
        among variables: [Variable], _ rules: Rules, _ moved: Set<Identifier>
    ) {
        let hidden = Set(unlisted.map(\.id))
        while let (place, scope, other) = firstOverlap(among: variables) {
            let step = steps.remove(at: place)
            // What is in the way may be gone, or have other targets: Vercel hides it.
            if let other, hidden.contains(other.id) {
                if let variable = step.variable {
                    unlisted.append(variable)
                } else if let record = step.record {
                    unreadable.append(
                        RecordNote(
                            record,
                            "it was not pulled, because Vercel may hide the vault's variable for \(scope.description)"
                        ))
                }
                continue
            }
            let isForced = rules.force || other.map(rules.forces) ?? false
            let along = step.variable.flatMap { known in
                rules.force && other.map { !rules.forces($0) } ?? false ? known.name : nil
            }
            let isHidden = step.record?.attributes.kind == .sensitive
            let note = RecordNote(
                key: step.key, scope: step.attributes.scope,
                reason: "the vault has, or would have, another variable for \(scope.description)",
                way: isHidden
                    ? .sending
                    : along.map { .takingAlong($0) } ?? (isForced ? .overriding : .either))
            conflicts.append(PullConflict(note, of: step, with: other))
            let place = step.record?.attributes.scope
            unreadable.removeAll { $0.key == step.key && $0.scope == place }
            // A record makes no room for one that does not come.
            while let place = steps.firstIndex(where: { idle in
                guard let variable = idle.variable, moved.contains(variable.id) else {
                    return false
                }
                return !steps.contains {
                    $0.variable?.id != variable.id && $0.takes(the: variable)
                }
            }) {
                if let variable = steps.remove(at: place).variable { ahead.append(variable) }
            }
        }
    }

    /// Returns a step and the record in its way; `other` is nil if that belongs to another step.
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

    /// Returns the records on Vercel whose values a plan needs, because they are new or may have
    /// changed, with the vault's records to compare.
    package static func valuesNeeded(
        variables: [Variable], platform: ListedRecords, rules: Rules
    ) -> [(record: VercelRecord, variable: Variable?)] {
        PullPairs(variables: variables, platform: platform, rules: rules).pairs.compactMap { pair in
            guard rules.includes(pair), let record = pair.record,
                record.attributes.kind != .sensitive, pair.mayBringValue
            else { return nil }
            return (record, pair.variable)
        }
    }
}

extension PullPlan.Evidence {
    /// Returns whether Vercel showed the value of a record.
    fileprivate func shows(_ record: VercelRecord?) -> Bool {
        guard let record, case .shown = states[record.id] else { return false }
        return true
    }
}

extension PullPlan.Step {
    /// Returns whether it needs the scope of a record of the vault.
    fileprivate func takes(the variable: Variable) -> Bool {
        action != .remove && key == variable.name
            && attributes.scope.overlaps(variable.attributes.scope)
    }

    /// Returns the step with an existing record of the vault instead of a new one.
    fileprivate func takingOver(_ variable: Variable) -> PullPlan.Step {
        var step = PullPlan.Step(
            variable: variable, record: record, attributes: attributes,
            action: .update(withValue: bringsValue))
        step.staysBehind = staysBehind
        return step
    }
}

extension PullPlan.Rules {
    /// Returns whether the vault's version may be replaced, because the user chose that for this
    /// record, for its key or for all.
    func forces(_ variable: Variable) -> Bool {
        decisions[variable.id] == .vercel || force && (keys?.contains(variable.name) ?? true)
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
