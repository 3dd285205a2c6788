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

        /// The key afterwards.
        package var key: String { record?.key ?? variable?.name ?? "" }

        /// Tells whether a value that the vault has changes, goes, or goes from a place or a name.
        package var changesLocalValue: Bool {
            guard let variable, variable.isLive, variable.currentVersion > 0 else { return false }
            switch action {
            case .create, .agree: return false
            case .remove: return true
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
        /// Take what the platform has where both sides changed.
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
        refuseOverlaps(among: variables)
        for step in steps {
            guard let record = step.record else { continue }
            if evidence.states[record.id] == .shown(isEmpty: true) {
                empty.append(
                    RecordNote(
                        key: step.key, scope: record.attributes.scope, reason: "its value is empty")
                )
            }
            if case .update(withValue: true) = step.action, let variable = step.variable,
                variable.currentVersion > 0, evidence.equalities[variable.id] == nil
            {
                compared = false
            }
        }
    }

    /// Takes back steps after which one key would have two records for one place: one of the vault
    /// that was never pushed is there, or the platform contradicts itself.
    private mutating func refuseOverlaps(among variables: [Variable]) {
        while let (place, scope) = firstOverlap(among: variables) {
            let step = steps.remove(at: place)
            conflicts.append(
                RecordNote(
                    key: step.key, scope: step.attributes.scope,
                    reason: "the vault has, or would have, another one for \(scope.description)"))
            let place = step.record?.attributes.scope
            unreadable.removeAll { $0.key == step.key && $0.scope == place }
        }
    }

    private func firstOverlap(among variables: [Variable]) -> (place: Int, scope: Scope)? {
        let touched = Set(steps.compactMap { $0.variable?.id })
        var taken: [String: [Scope]] = [:]
        for variable in variables where variable.isLive && !touched.contains(variable.id) {
            taken[variable.name, default: []].append(variable.attributes.scope)
        }
        for (place, step) in steps.enumerated() where step.action != .remove {
            let scope = step.attributes.scope
            if let other = taken[step.key]?.first(where: { $0.overlaps(scope) }) {
                return (place, other)
            }
            taken[step.key, default: []].append(scope)
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

extension PullPlan.Rules {
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
