package import Vault

/// The changes that a push would send, computed from the current state of the vault and of Vercel.
///
/// A change on Vercel that the vault has not seen is a conflict. A plan with conflicts must not be
/// sent.
package struct PushPlan: Equatable, Sendable {
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
        /// For the old record of a renamed variable: the vault's record whose new one must exist
        /// before the old one is deleted.
        package var successor: Identifier?

        /// The vault's record that this step is for; nil if it only clears a place.
        var owner: Identifier? { variable?.id ?? successor }

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
    /// The variables of steps that were taken out of the plan.
    package private(set) var leftOut: Set<Identifier> = []
    /// What Vercel has, to tell which step needs the place of which record.
    let platform: ListedRecords
    /// See ``ScopeExchange/groups``.
    private let exchanged: [Set<Identifier>]

    /// - Parameters:
    ///   - variables: All records of the project, including removed ones.
    ///   - platform: All records of the project on Vercel.
    ///   - adopted: Records of the vault with a record on Vercel of equal value, scope and type
    ///     that the vault had not seen, or not in its current state.
    ///   - leftovers: Old records of renamed variables, which an earlier push should have deleted.
    ///   - successors: The vault records that must exist before these are deleted, by Vercel's id.
    ///   - abandoned: Old records of renamed variables that are left unchanged.
    ///   - renamed: See ``renamedRecords(of:)``; also the leftovers of an earlier push, which asked
    ///     about what gets weaker.
    ///   - exchanged: See ``ScopeExchange/groups``.
    package init(
        variables: [Variable], platform: ListedRecords, adopted: [Identifier: VercelRecord],
        leftovers: [VercelRecord] = [], successors: [String: Identifier] = [:],
        abandoned: [VercelRecord] = [], renamed: Set<String> = [],
        exchanged: [Set<Identifier>] = [], rules: Rules
    ) {
        (self.platform, self.exchanged) = (platform, exchanged)
        // A record to be deleted is not in the way.
        var staying = platform
        staying.removeAll(where: leftovers.contains)
        let planning = PushPlanning(
            variables: variables, platform: staying, adopted: adopted, rules: rules)
        // The index is sorted by random ids; sort by name for people.
        let ordered = variables.sorted {
            ($0.name, $0.attributes.scope.description) < ($1.name, $1.attributes.scope.description)
        }
        for variable in ordered where rules.includes(variable) {
            switch planning.sendDecision(of: variable) {
            case .nothing: break
            case .unchanged: unchanged.append(variable)
            case .forgotten: forgotten.append(variable.id)
            case .steps(let more): steps += more
            case .conflict(let conflict): conflicts.append(conflict)
            case .aside(let note): aside.append(note)
            case .unlisted(needsSending: false): unlisted.append(variable)
            case .unlisted(needsSending: true):
                blocked.append(
                    RecordNote(
                        key: variable.name, scope: variable.attributes.scope,
                        reason: "Vercel does not list it, and may only hide it"))
            }
        }
        let looked = ordered.filter(rules.includes)
        if rules.force {
            steps += planning.clearing(placesOf: looked)
        } else {
            conflicts += planning.conflicts(inPlacesOf: looked)
        }
        conflicts += abandoned.map {
            RecordNote($0, "an earlier push should have deleted it but did not", way: .taking)
        }
        steps += planning.deletions(of: leftovers, successors: successors)
        if rules.prune {
            // A record that another step takes over is in the vault from then on.
            let used = Set(steps.compactMap(\.remoteID))
            var prunable = planning.prunable().filter { !used.contains($0.id) }
            if !rules.force {
                managed = prunable.filter { $0.integration != nil }.map {
                    RecordNote($0, "an integration manages it on Vercel", way: .managedThere)
                }
                prunable.removeAll { $0.integration != nil }
            }
            steps += planning.deletions(of: prunable.filter { rules.contains($0.attributes.scope) })
            spared = prunable.filter { !rules.contains($0.attributes.scope) }
        }
        if !rules.force { leaveManaged(variables) }
        steps = Self.ordered(Self.merged(steps, platform), platform)
        weakened = Self.weakenings(steps, variables, platform, renamed)
        if !platform.isComplete { blockProduction(platform) }
    }

    /// Leaves out steps that would change what an integration manages: the integration may write it
    /// again, or fail.
    private mutating func leaveManaged(_ variables: [Variable]) {
        let managed = Set(platform.filter { $0.integration != nil }.map(\.id))
        if managed.isEmpty { return }
        var noted: Set<Identifier> = []
        for (step, reason) in takeOut(where: { $0.remoteID.map(managed.contains) ?? false }) {
            if let id = step.owner, !noted.insert(id).inserted { continue }
            // Commands take the vault's name.
            let owner = variables.first { $0.id == step.owner }
            self.managed.append(
                RecordNote(
                    key: owner?.name ?? step.key, scope: step.attributes.scope,
                    reason: reason ?? "an integration manages it on Vercel", way: .managed))
        }
    }

    /// The name and scope of each Secret that is sent or changed.
    package var secrets: [(key: String, scope: Scope)] {
        steps.filter { !$0.isDeletion && $0.attributes.kind == .sensitive }
            .map { ($0.key, $0.attributes.scope) }
    }

    /// Blocks what would change production: another value may be there, hidden.
    private mutating func blockProduction(_ platform: ListedRecords) {
        let before = Dictionary(firstOf: platform.map { ($0.id, $0.attributes.scope.targets) })
        for step in steps {
            let targets = step.attributes.scope.targets.union(
                step.remoteID.flatMap { before[$0] } ?? [])
            guard targets.contains(.production) else { continue }
            blocked.append(
                RecordNote(
                    key: step.key, scope: step.attributes.scope,
                    reason: "it would change production"
                ))
        }
    }

    /// Returns Vercel's ids of the records of renamed variables: what they hold keeps its type under
    /// the new name.
    ///
    /// - Parameter variables: Before a ``ScopeExchange``.
    package static func renamedRecords(of variables: [Variable]) -> Set<String> {
        Set(
            variables.filter { $0.isLive && $0.remote.map(\.key) != $0.name }
                .compactMap { $0.remote?.id })
    }

    /// Finds the steps that make something weaker: few. An update of a sensitive record is refused by
    /// Vercel and changes nothing. Development has no sensitive values by itself.
    private static func weakenings(
        _ steps: [Step], _ variables: [Variable], _ platform: ListedRecords,
        _ renamed: Set<String>
    ) -> [Weakening] {
        let byID = Dictionary(firstOf: platform.map { ($0.id, $0) })
        let byKey = Dictionary(grouping: platform.filter { !renamed.contains($0.id) }, by: \.key)
        let removed = Dictionary(
            grouping: variables.filter { !$0.isLive && $0.remote != nil }, by: \.name)
        return steps.compactMap { step in
            let scope = step.attributes.scope
            guard let variable = step.variable, !step.isDeletion else { return nil }
            let own = step.remoteID.flatMap { byID[$0] }
            if own?.attributes.kind == .sensitive { return nil }
            let known = [own, variable.remote.flatMap { byID[$0.id] }].compactMap(\.self)
            let overlapping = (byKey[step.key] ?? []).filter { $0.attributes.scope.overlaps(scope) }
            // For development only what is hidden there counts: nothing else made it sensitive.
            let there = scope.isOnlyDevelopment ? overlapping : known + overlapping
            // Without any, what Vercel had here before: of this variable, or of a removed one.
            let last = (removed[step.key] ?? []).filter { $0.attributes.scope.overlaps(scope) }
                .max { ($0.deletedAt ?? 0) < ($1.deletedAt ?? 0) }
            let agreed = scope.isOnlyDevelopment ? nil : variable.remote?.agreed.kind
            let gone = [last?.attributes.kind, agreed].compactMap(\.self)
            guard let before = there.map(\.attributes.kind).strictest ?? gone.strictest,
                step.attributes.kind.strictness < before.strictness
            else { return nil }
            return Weakening(step: step, before: before)
        }
    }

    /// Takes all steps of some keys out of the plan, and what cannot be sent without them.
    ///
    /// - Returns: The steps that send a variable; for those of other keys, the reason.
    package mutating func leaveOut(_ keys: Set<String>) -> [(step: Step, reason: String?)] {
        if keys.isEmpty { return [] }
        return takeOut(where: { keys.contains($0.key) && $0.successor == nil })
            .filter { $0.step.variable != nil }
    }

    /// Takes steps out of the plan, with those that cannot be sent without them.
    ///
    /// - Returns: The steps, those that were chosen first; for the others, the reason.
    private mutating func takeOut(
        where isChosen: (Step) -> Bool
    ) -> [(step: Step, reason: String?)] {
        let needed = Self.needs(of: steps, platform)
        var needing: [[Int]] = Array(repeating: [], count: steps.count)
        for place in steps.indices { for other in needed[place] { needing[other].append(place) } }
        let owned = Dictionary(grouping: steps.indices, by: { steps[$0].owner })
        /// Returns the steps that are not sent without one: of the same variable, of those that it
        /// changes places with, and those that make room for it.
        func partners(of place: Int) -> [Int] {
            let room = needed[place].filter { steps[$0].owner == nil }
            guard let id = steps[place].owner else { return room }
            let others = exchanged.first { $0.contains(id) } ?? [id]
            return others.sorted().flatMap { owned[$0] ?? [] } + room
        }
        var taken = steps.indices.filter { isChosen(steps[$0]) }
        var reasons: [Int: String?] = Dictionary(
            uniqueKeysWithValues: taken.map { ($0, nil) })
        var next = 0
        while next < taken.count {
            let place = taken[next]
            next += 1
            for other in partners(of: place) + needing[place] where reasons[other] == nil {
                let isSame = steps[other].owner == steps[place].owner || steps[other].owner == nil
                reasons[other] =
                    isSame
                    ? reasons[place] : .some(Self.reason(steps[other], waitingFor: steps[place]))
                taken.append(other)
            }
        }
        let left: [(step: Step, reason: String?)] = taken.map { (steps[$0], reasons[$0] ?? nil) }
        leftOut.formUnion(left.compactMap(\.step.owner))
        steps = steps.indices.filter { reasons[$0] == nil }.map { steps[$0] }
        weakened.removeAll { weakening in left.contains { $0.step == weakening.step } }
        return left
    }

    private static func reason(_ step: Step, waitingFor other: Step) -> String {
        let name = other.variable?.name ?? other.key
        let who = name == step.key ? "\(name) (\(other.attributes.scope.description))" : name
        return "it needs the place that \(who) has on Vercel, but that variable is not sent"
    }

    /// Returns notes about records that other users created in scopes that records of the vault
    /// left.
    package static func conflicts(
        inPlacesOf left: [Variable], among variables: [Variable], platform: ListedRecords
    ) -> [RecordNote] {
        PushPlanning(variables: variables, platform: platform, adopted: [:], rules: Rules())
            .conflicts(inPlacesOf: left)
    }

    /// Returns the steps with one step for each record that makes room for several others.
    private static func merged(_ steps: [Step], _ platform: ListedRecords) -> [Step] {
        let making = Dictionary(
            grouping: steps.filter { $0.variable == nil && $0.successor == nil },
            by: { $0.remoteID ?? "" })
        var merged: [Step] = []
        for step in steps {
            guard step.variable == nil, step.successor == nil,
                let id = step.remoteID, let group = making[id], group.count > 1
            else {
                merged.append(step)
                continue
            }
            guard step == group.first, let record = platform.first(where: { $0.id == id }) else {
                continue
            }
            var attributes = record.attributes
            for part in group where !part.isDeletion {
                let taken = record.attributes.scope.subtracting(part.attributes.scope)
                attributes.scope = attributes.scope.subtracting(taken)
            }
            let goes = attributes.scope.isEmpty || group.contains(where: \.isDeletion)
            merged.append(
                Step(
                    variable: nil, key: step.key,
                    attributes: goes ? record.attributes : attributes,
                    action: goes ? .delete(id: id) : .update(id: id, withValue: false)))
        }
        return merged
    }

    /// Returns pairs whose values are worth comparing: a record never pushed with an unseen Vercel
    ///   record of the same key, scope and type, and a record with its Vercel record that changed
    ///   to the same scope and type.
    package static func adoptionCandidates(
        variables: [Variable], platform: ListedRecords, rules: Rules
    ) -> [(variable: Variable, record: VercelRecord)] {
        let known = Set(variables.compactMap { $0.remote?.id })
        return variables.filter {
            $0.isLive && rules.includes($0) && !rules.makingRoom.contains($0.id)
        }
        .compactMap { variable in
            let match = platform.first { record in
                guard record.attributes.scope == variable.attributes.scope,
                    record.attributes.kind == variable.attributes.kind
                else { return false }
                guard let remote = variable.remote else {
                    return record.key == variable.name && !known.contains(record.id)
                }
                return record.id == remote.id && record.updatedAt != remote.agreedUpdatedAt
            }
            return match.map { (variable, $0) }
        }
    }

    /// Returns, for each step, the steps that must precede it.
    private static func needs(of steps: [Step], _ platform: ListedRecords) -> [[Int]] {
        let records = Dictionary(firstOf: platform.map { ($0.id, $0) })
        /// Returns the record whose place a step leaves; nil if it leaves none.
        func left(by step: Step) -> VercelRecord? {
            guard let before = step.remoteID.flatMap({ records[$0] }) else { return nil }
            if step.isDeletion || before.key != step.key { return before }
            let rest = before.attributes.scope.subtracting(step.attributes.scope)
            return rest.isEmpty ? nil : before
        }
        let leaving = Dictionary(
            grouping: steps.indices.filter { left(by: steps[$0]) != nil },
            by: { left(by: steps[$0])?.key ?? "" })
        let creations = Dictionary(
            steps.indices.compactMap { place in
                steps[place].action == .create
                    ? steps[place].variable.map { ($0.id, place) } : nil
            }, uniquingKeysWith: { first, _ in first })
        /// Returns the steps that must precede one.
        func needs(_ place: Int) -> [Int] {
            let step = steps[place]
            if let successor = step.successor { return creations[successor].map { [$0] } ?? [] }
            guard !step.isDeletion else { return [] }
            return (leaving[step.key] ?? []).filter { other in
                other != place
                    && left(by: steps[other])?.attributes.scope.overlaps(step.attributes.scope)
                        == true
            }
        }
        return steps.indices.map(needs)
    }

    /// Returns the steps in order of sending: what makes room precedes what uses it, and other
    ///   deletions are last, so that a value is not missing longer than necessary. A renamed
    ///   sensitive variable is created under its new name before the old record is deleted.
    private static func ordered(_ steps: [Step], _ platform: ListedRecords) -> [Step] {
        let needed = needs(of: steps, platform)
        let awaited = Set(needed.joined())
        func rank(_ place: Int) -> Int {
            if awaited.contains(place) { return steps[place].isDeletion ? 1 : 0 }
            return switch steps[place].action {
            case .update: 2
            case .create: 3
            case .delete: 4
            }
        }
        var open = steps.indices.sorted { (rank($0), $0) < (rank($1), $1) }
        var done: Set<Int> = []
        var order: [Step] = []
        while !open.isEmpty {
            // A cycle cannot be ordered; Vercel will reject it.
            let next = open.firstIndex { needed[$0].allSatisfy(done.contains) } ?? 0
            done.insert(open[next])
            order.append(steps[open.remove(at: next)])
        }
        return order
    }
}

extension PushPlan.Rules {
    /// Returns whether a record is selected. A record that lost a selected target is included,
    /// because Vercel still has it there.
    package func includes(_ variable: Variable) -> Bool {
        (records?.contains(variable.id) ?? true || makingRoom.contains(variable.id))
            && (includes(key: variable.name, variable.attributes.scope)
                || variable.remote.map { includes(key: variable.name, $0.agreed.scope) } ?? false)
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
