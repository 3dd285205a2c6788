internal import SyncPlan
package import Vault

/// The changes that a push would send, computed from the current state of the vault and of Vercel.
///
/// A change on Vercel that the vault has not seen is a conflict. A plan with conflicts must not be
/// sent.
package struct PushPlan: Sendable {
    /// What to do with one record on Vercel.
    package enum Action: Equatable, Sendable {
        case create
        /// Change the record with that id, with its value or only its attributes.
        case update(id: String, withValue: Bool)
        /// Delete the record with that id.
        case delete(id: String)
    }

    /// One change to send.
    package struct Step: Equatable, Sendable {
        /// The vault's record; nil for one that only Vercel has (`--prune`).
        package let variable: Variable?
        package let key: String
        /// The new attributes of the record; for a deletion, the old ones.
        package let attributes: VariableAttributes
        package let action: Action
        /// The part of the scope that the step is about. Elsewhere the record stays as it is.
        let agreed: Scope
        /// For a deletion: the keys that have the value under a new name, and must have it before.
        let waitsFor: Set<String>
        /// Whether the record's value is the current one of ``variable``, unless someone changed it.
        let hasKnownValue: Bool

        package var isDeletion: Bool {
            if case .delete = action { true } else { false }
        }

        /// Vercel's id of the existing record; nil for a creation.
        package var remoteID: String? {
            switch action {
            case .create: nil
            case .update(let id, _), .delete(let id): id
            }
        }

        package var sendsValue: Bool {
            switch action {
            case .create, .update(_, withValue: true): true
            case .delete, .update(_, withValue: false): false
            }
        }
    }

    /// A step that gives a value a weaker type than Vercel has in its scope.
    package struct Weakening: Equatable, Sendable {
        package let step: Step
        package let before: VariableAttributes.Kind

        /// Whether Vercel would show a value that it hides now. Plain and encrypted values can both
        /// be read.
        package var isExposure: Bool { before == .sensitive }
    }

    /// Scopes where a key must not exist afterwards, even if the vault has no record of it.
    package struct Vacated: Equatable, Sendable {
        package let key: String
        /// The scopes; nil for all.
        package let scopes: [Scope]?

        package init(key: String, scopes: [Scope]?) {
            self.key = key
            self.scopes = scopes
        }
    }

    /// What the caller allows and selects.
    package struct Rules: Equatable, Sendable {
        /// Whether to overwrite changes on Vercel.
        package var force = false
        /// Whether to delete records that only Vercel has.
        package var prune = false
        /// Whether Vercel may protect a value less than now.
        package var allowsWeaker = false
        /// The keys; nil for all.
        package var keys: Set<String>?
        /// The records; nil for all.
        package var records: Set<Identifier>?
        /// Records that are selected whatever else is.
        package var parts: Set<Identifier> = []
        /// Records that only make room: their scope is updated, or they are deleted, and nothing
        /// else of them is sent. They count as selected.
        package var makingRoom: Set<Identifier> = []
        /// Targets and custom environments; nil for all.
        package var places: Scope?
        /// Scopes to clear, one entry a key.
        package var vacated: [Vacated] = []
        /// Vercel's id of this program's user, for messages; nil if unknown.
        package var ownUser: String?

        package init(records: Set<Identifier>? = nil) { self.records = records }
    }

    /// The changes in the order of sending.
    package private(set) var steps: [Step] = []
    /// Steps after which Vercel protects a value less than now.
    package private(set) var weakened: [Weakening] = []
    /// Records that need no change.
    package private(set) var unchanged: [Variable] = []
    /// Differences that the vault has not seen and that stop the push, with their authors if known.
    package private(set) var conflicts: [RecordNote] = []
    /// Records that only Vercel has, and that pruning leaves, since they apply outside of the selected
    /// targets too.
    package private(set) var spared: [VercelRecord] = []
    /// Removed records that are gone on Vercel too and can be forgotten.
    package private(set) var forgotten: [Identifier] = []
    /// What is not sent because an integration manages the record on Vercel.
    package private(set) var managed: [RecordNote] = []
    /// What integrations changed on Vercel, and of which the vault has nothing to send.
    package private(set) var aside: [RecordNote] = []
    /// Records that Vercel does not list and may only hide, and that need no change.
    package private(set) var unlisted: [Variable] = []
    /// What cannot be sent while Vercel hides production variables: it would change production, or a
    /// record that may be hidden. A plan with such notes must not be sent.
    package private(set) var blocked: [RecordNote] = []
    /// What listing and journal show to be agreed on, without any request.
    package private(set) var agreed: [RecordUpdate] = []
    /// The records of the vault that would be several on Vercel, each with the scopes of those besides
    /// the heaviest one.
    package private(set) var divided: [(variable: Variable, scopes: [Scope])] = []
    /// The journal's writes whose outcome is known now.
    package private(set) var settled: [Identifier] = []
    /// What would have to become readable, and Vercel keeps sensitive.
    package private(set) var finalTypes: [Variable] = []
    let state: ProjectState
    /// The state before anything was left out that waits for another variable.
    private let whole: ProjectState
    /// The keys that wait for a variable that is not sent, with its name.
    private var waiting: [String: String] = [:]

    /// Returns whether another plan sends the same, from whatever records of the vault.
    package func sendsSame(as other: PushPlan) -> Bool {
        steps.count == other.steps.count
            && steps.allSatisfy { step in other.steps.contains(where: step.isSame) }
    }

    /// Vercel's records of ``agreed``, by the vault's record.
    package var agreedRecords: [Identifier: VercelRecord] {
        var records: [Identifier: VercelRecord] = [:]
        for update in agreed {
            guard let id = update.variable, case .matched(let record, _, _) = update.knowledge
            else {
                continue
            }
            records[id] = record
        }
        return records
    }

    /// What Vercel has, to tell which step needs the place of which record.
    var platform: ListedRecords { state.platform }

    package init(_ whole: ProjectState) {
        self.whole = whole
        var state = whole
        var plan = ProjectPlan(state.keys, rules: state.table.rules)
        steps = StepOrder(plan, state).steps
        var judged = PlanNotes(plan, steps, state)
        // What would take the place of a variable that is not sent waits for it, and so on.
        var held = Set(judged.managed.map(\.key))
        while case let needed = state.keys(neededBy: state.left.union(held)), !needed.isEmpty {
            for (key, name) in needed where held.contains(name) { held.insert(key) }
            waiting.merge(needed) { $1 }
            state = state.leavingOut(Set(needed.keys))
            plan = ProjectPlan(state.keys, rules: state.table.rules)
            steps = StepOrder(plan, state).steps
            judged = PlanNotes(plan, steps, state)
        }
        self.state = state
        (conflicts, managed, aside) = (judged.conflicts, judged.managed, judged.aside)
        (blocked, unlisted, unchanged) = (judged.blocked, judged.unlisted, judged.unchanged)
        (forgotten, finalTypes) = (judged.forgotten, judged.finalTypes)
        for (key, name) in waiting.sorted(by: { $0.key < $1.key }) where held.contains(key) {
            managed += state.variables.filter { $0.isLive && $0.name == key }.map {
                RecordNote(
                    key: key, scope: $0.attributes.scope, reason: Self.reason(waitingFor: name),
                    way: .managed)
            }
        }
        for record in state.spared {
            if record.integration != nil, !state.rules.force {
                managed.append(
                    RecordNote(record, "an integration manages it on Vercel", way: .managedThere))
            } else {
                spared.append(record)
            }
        }
        // A conflict is decided for the whole variable, unless an unfinished write is part of it.
        let conflicting = Set(conflicts.map(\.key))
        agreed = state.found
        for place in state.keys.indices
        where !conflicting.contains(state.keys[place].key) || !state.sends[place].isEmpty {
            agreed += RecordUpdate.updates(of: state.keys[place], plan.keys[place], state)
        }
        agreed += RecordUpdate.doubtful(steps, state)
        for (keyPlan, sends) in zip(plan.keys, state.sends) {
            settled += sends.indices.filter { !keyPlan.open.contains($0) }.map { sends[$0].id }
        }
        divided = zip(state.keys, plan.keys).flatMap { Self.parts($0, $1, state) }
        weakened = Self.weakenings(steps, state)
    }

    /// Makes conflicts of what would have to be divided.
    package mutating func refuseDivision() {
        conflicts += divided.map {
            RecordNote(
                key: $0.variable.name, scope: $0.variable.attributes.scope,
                reason: "Vercel has it as several variables", way: .either)
        }
    }

    /// The name and scope of each Secret that is sent or changed.
    package var secrets: [(key: String, scope: Scope)] {
        steps.filter { !$0.isDeletion && $0.attributes.kind == .sensitive }
            .map { ($0.key, $0.attributes.scope) }
    }

    /// Plans again without some keys.
    ///
    /// - Returns: The steps of variables that are not sent; for those of other keys, the reason.
    package mutating func leaveOut(_ keys: Set<String>) -> [(step: Step, reason: String?)] {
        if keys.isEmpty { return [] }
        let before = steps
        self = PushPlan(whole.leavingOut(keys))
        return before.compactMap { step in
            guard step.variable != nil, !steps.contains(where: step.isSame) else { return nil }
            let other = keys.contains(step.key) ? nil : waiting[step.key] ?? keys.first
            return (step, other.map(Self.reason))
        }
    }

    private static func reason(waitingFor name: String) -> String {
        "it needs the place that \(name) has on Vercel, but that variable is not sent"
    }

    /// Returns notes about records that someone created in scopes that a push has left.
    ///
    /// - Parameters:
    ///   - outcomes: What was sent.
    ///   - now: What Vercel has now.
    package func occupied(after outcomes: [PushOutcome], _ now: ListedRecords) -> [RecordNote] {
        let own = Set(outcomes.compactMap { $0.record?.id })
        return outcomes.filter { !$0.isFailed }.flatMap { outcome -> [RecordNote] in
            let step = outcome.step
            guard let before = step.remoteID.flatMap({ state.records[$0] }) else { return [] }
            let left =
                step.isDeletion
                ? before.attributes.scope
                : before.attributes.scope.subtracting(step.attributes.scope)
            return now.filter { record in
                record.key == before.key && record.attributes.scope.overlaps(left)
                    && state.records[record.id] == nil && !own.contains(record.id)
            }.map { RecordNote(occupant: $0, of: left) }
        }
    }

    // MARK: Records of the vault that are several on Vercel

    /// Returns the records of the vault whose targets are in several records of Vercel after the
    /// requests.
    private static func parts(
        _ key: KeyState, _ plan: KeyPlan, _ state: ProjectState
    ) -> [(variable: Variable, scopes: [Scope])] {
        var records = key.records.map { (id: $0.id, targets: $0.targets) }
        for request in plan.requests {
            let place = records.firstIndex { $0.id == request.subject?.record }
            if let place {
                records[place].targets = request.targets
            } else {
                records.append(("", request.targets))
            }
        }
        let places = Set(key.wishes.compactMap { $0?.version.variable }).sorted()
        return places.compactMap { place in
            let own = TargetSet(
                key.wishes.indices.map(Target.init).filter {
                    key.wishes[$0.position]?.version.variable == place
                })
            let parts = records.map { $0.targets.intersection(own) }
                .filter { !$0.isEmpty }
                .sorted { ($0.heaviest?.position ?? 0) < ($1.heaviest?.position ?? 0) }
            guard parts.count > 1, state.variables[place].currentVersion > 0 else { return nil }
            return (state.variables[place], parts.dropFirst().map { state.table.scope($0) })
        }
    }

    // MARK: Weaker types

    /// Finds the steps that make something weaker: few. Development has no sensitive values by itself.
    private static func weakenings(_ steps: [Step], _ state: ProjectState) -> [Weakening] {
        // What a renamed variable holds keeps its type under the new name.
        let byKey = Dictionary(
            grouping: state.platform.filter { !state.renamedRecords.contains($0.id) }, by: \.key)
        let removed = Dictionary(
            grouping: state.variables.filter { !$0.isLive && $0.remote != nil }, by: \.name)
        // A record that goes on with another variable does not show the type of the one that had it.
        let taken = Dictionary(
            firstOf: steps.filter { !$0.isDeletion }.compactMap { step in
                step.remoteID.map { ($0, step.variable?.id) }
            })
        return steps.compactMap { step in
            let scope = step.attributes.scope
            guard let variable = step.variable, !step.isDeletion else { return nil }
            let own = step.remoteID.flatMap { state.records[$0] }
            if own?.attributes.kind == .sensitive { return nil }
            let last = variable.remote.flatMap { state.records[$0.id] }
            let isTaken = last.map { (taken[$0.id] ?? variable.id) != variable.id } ?? false
            let known = [own, isTaken ? nil : last].compactMap(\.self)
            let overlapping = (byKey[step.key] ?? []).filter { $0.attributes.scope.overlaps(scope) }
            // For development only what is hidden there counts: nothing else made it sensitive.
            let there = scope.isOnlyDevelopment ? overlapping : known + overlapping
            // Without any, what Vercel had here before: of this variable, or of a removed one.
            let former = (removed[step.key] ?? []).filter { $0.attributes.scope.overlaps(scope) }
                .max { ($0.deletedAt ?? 0) < ($1.deletedAt ?? 0) }
            let agreed = scope.isOnlyDevelopment ? nil : variable.remote?.agreed.kind
            let gone = [former?.attributes.kind, agreed].compactMap(\.self)
            guard let before = there.map(\.attributes.kind).strictest ?? gone.strictest,
                step.attributes.kind.strictness < before.strictness
            else { return nil }
            return Weakening(step: step, before: before)
        }
    }
}

extension PushPlan.Step {
    /// Returns whether another plan has the same step.
    fileprivate func isSame(_ other: PushPlan.Step) -> Bool {
        key == other.key && action == other.action && attributes == other.attributes
    }
}

extension RecordUpdate {
    /// Returns the records that an unfinished write may have left: ours, but not proved.
    fileprivate static func doubtful(
        _ steps: [PushPlan.Step], _ state: ProjectState
    ) -> [RecordUpdate] {
        steps.compactMap { step in
            guard let variable = step.variable, step.sendsValue, state.isDoubtful(step),
                let record = step.remoteID.flatMap({ state.records[$0] })
            else { return nil }
            return RecordUpdate(
                variable: variable.id,
                knowledge: .matched(record, version: 0, attributes: record.attributes))
        }
    }

    /// Returns what the vault has to record of a key before anything is sent.
    fileprivate static func updates(
        of key: KeyState, _ plan: KeyPlan, _ state: ProjectState
    ) -> [RecordUpdate] {
        var updates: [RecordUpdate] = []
        var released: [String: TargetSet] = [:]
        var told: Set<Int> = []
        for (position, known) in key.agreements.enumerated() {
            let now = plan.agreements[position]
            if now == known { continue }
            if let known, known.record != now?.record {
                released[known.record, default: []].insert(Target(position))
            }
            guard let now, let record = state.records[now.record],
                let variable = state.variable(now.content.version),
                told.insert(now.content.version.variable).inserted
            else { continue }
            let targets = TargetSet(
                plan.agreements.indices.filter { plan.agreements[$0] == now }.map(Target.init))
            // Of a record with targets that were not seen, a pull has to find those.
            guard
                !key.sends.isEmpty
                    || state.table.set(record.attributes.scope).isSubset(of: targets)
            else { continue }
            updates.append(
                RecordUpdate(
                    variable: variable.id,
                    knowledge: .matched(
                        record, version: UInt64(now.content.version.number),
                        attributes: VariableAttributes(
                            kind: now.content.type.kind,
                            scope: state.table.scope(targets),
                            comment: now.content.comment))))
        }
        // What was released comes first: a variable has one state.
        return released.sorted { $0.key < $1.key }.map { id, targets in
            RecordUpdate(
                variable: nil, knowledge: .released(id, from: state.table.scope(targets)))
        } + updates
    }
}

extension PushPlan.Rules {
    /// Returns whether a record is selected. A record that lost a selected target is included,
    /// because Vercel still has it there.
    package func includes(_ variable: Variable) -> Bool {
        parts.contains(variable.id)
            || (records?.contains(variable.id) ?? true || makingRoom.contains(variable.id))
                && (includes(key: variable.name, variable.attributes.scope)
                    || variable.remote.map { includes(key: variable.name, $0.agreed.scope) }
                        ?? false)
    }

    /// Returns whether nothing of a record is sent but what it leaves.
    func onlyMakesRoom(_ variable: Variable) -> Bool {
        makingRoom.contains(variable.id) && records?.contains(variable.id) != true
            && !parts.contains(variable.id)
    }

    /// Returns whether a scope is within the selected targets.
    package func contains(_ scope: Scope) -> Bool { places?.contains(scope) ?? true }

    func includes(key: String, _ scope: Scope) -> Bool {
        guard keys?.contains(key) ?? true else { return false }
        guard let places else { return true }
        return !scope.targets.isDisjoint(with: places.targets)
            || !Set(scope.customEnvironments).isDisjoint(with: places.customEnvironments)
    }
}
