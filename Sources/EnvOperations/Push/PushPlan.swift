package import Vault

/// What a push would send, computed from the vault and the platform as it is now. Pure.
///
/// A change on the platform that the vault has not seen is a conflict, and a plan with conflicts is
/// not to be sent.
package struct PushPlan: Equatable, Sendable {
    /// What to do with one record of the platform.
    package enum Action: Equatable, Sendable {
        /// Make it.
        case create
        /// Change the record of that id; the value too, or only what stands beside it.
        case update(id: String, withValue: Bool)
        /// Delete the record of that id.
        case delete(id: String)
    }

    /// One thing to send.
    package struct Step: Equatable, Sendable {
        /// The vault's record; nil for one that only the platform has (`--prune`).
        package let variable: Variable?
        /// The key.
        package let key: String
        /// What the record is to be; for a deletion, what it was.
        package let attributes: VariableAttributes
        /// What to do.
        package let action: Action
        /// For the old record of a renamed variable: the vault's record whose new one must be there
        /// before the old one goes.
        package var successor: Identifier?

        /// Tells whether it deletes a record.
        package var isDeletion: Bool {
            if case .delete = action { true } else { false }
        }

        /// The platform's id of the record that is there already; nil for a creation.
        package var remoteID: String? {
            switch action {
            case .create: nil
            case .update(let id, _), .delete(let id): id
            }
        }

        /// Tells whether it sends a value.
        package var sendsValue: Bool {
            switch action {
            case .create, .update(_, withValue: true): true
            case .delete, .update(_, withValue: false): false
            }
        }
    }

    /// Where a key is to be gone, of which the vault may have no record.
    package struct Vacated: Equatable, Sendable {
        /// The key.
        package let key: String
        /// Its places; nil for all.
        package let scopes: [Scope]?

        /// Names both.
        package init(key: String, scopes: [Scope]?) {
            self.key = key
            self.scopes = scopes
        }
    }

    /// What the caller allows.
    package struct Rules: Equatable, Sendable {
        /// Overwrite what was changed on the platform.
        package var force = false
        /// Delete records that only the platform has.
        package var prune = false
        /// Keys to look at; nil for all.
        package var keys: Set<String>?
        /// Records to look at; nil for all.
        package var records: Set<Identifier>?
        /// Records that only make room: their scope is brought in step, or they are deleted, and
        /// nothing else of them is sent. They count as looked at.
        package var makingRoom: Set<Identifier> = []
        /// Targets and custom environments to look at; nil for all.
        package var places: Scope?
        /// Places that are to be empty afterwards.
        package var vacated: Vacated?
        /// The platform's id of the user of this program, for messages; nil where it is not known.
        package var ownUser: String?

        /// Allows nothing special.
        package init() {}
    }

    /// What to send, in the order of sending.
    package private(set) var steps: [Step] = []
    /// Records that need nothing.
    package private(set) var unchanged: [Variable] = []
    /// Differences that the vault has not seen, and that stop the push: what changed, by whom where
    /// that is known.
    package private(set) var conflicts: [RecordNote] = []
    /// Removed records whose platform record is gone too: nothing is left to do but forget it.
    package private(set) var forgotten: [Identifier] = []

    /// Plans.
    ///
    /// - Parameters:
    ///   - variables: All records of the project, removed ones included.
    ///   - platform: All records of the platform's project.
    ///   - adopted: Records of the vault whose value, scope and type were found equal in a record of the
    ///     platform that the vault had not seen, or not seen as it is now.
    ///   - leftovers: Old records of renamed variables, which an earlier push was to delete.
    ///   - successors: Of these the records of the vault that are to be there first, by the platform's id.
    ///   - abandoned: The same that are left alone.
    package init(
        variables: [Variable], platform: [PlatformRecord], adopted: [Identifier: PlatformRecord],
        leftovers: [PlatformRecord] = [], successors: [String: Identifier] = [:],
        abandoned: [PlatformRecord] = [], rules: Rules
    ) {
        // What is to go is in nobody's way.
        let staying = platform.filter { !leftovers.contains($0) }
        let planning = PushPlanning(
            variables: variables, platform: staying, adopted: adopted, rules: rules)
        // The index is in the order of random ids; people look for names.
        let ordered = variables.sorted {
            ($0.name, $0.attributes.scope.description) < ($1.name, $1.attributes.scope.description)
        }
        for variable in ordered where rules.includes(variable) {
            switch planning.judgement(of: variable) {
            case .nothing: break
            case .unchanged: unchanged.append(variable)
            case .forgotten: forgotten.append(variable.id)
            case .steps(let more): steps += more
            case .conflict(let conflict): conflicts.append(conflict)
            }
        }
        let looked = ordered.filter(rules.includes)
        if rules.force {
            steps += planning.clearing(placesOf: looked)
        } else {
            conflicts += planning.conflicts(inPlacesOf: looked)
        }
        conflicts += abandoned.map {
            RecordNote(
                key: $0.key, scope: $0.attributes.scope,
                reason: "an earlier push should have deleted it, and did not", way: .taking)
        }
        steps += planning.deletions(of: leftovers, successors: successors)
        if rules.prune {
            // A record that another step takes over is in the vault from then on.
            let used = Set(steps.compactMap(\.remoteID))
            steps += planning.pruning().filter { !used.contains($0.remoteID ?? "") }
        }
        steps = Self.ordered(Self.merged(steps, platform), platform)
    }

    /// Records that somebody made in places that some records of the vault left.
    package static func conflicts(
        inPlacesOf left: [Variable], among variables: [Variable], platform: [PlatformRecord]
    ) -> [RecordNote] {
        PushPlanning(variables: variables, platform: platform, adopted: [:], rules: Rules())
            .conflicts(inPlacesOf: left)
    }

    /// One step for each record that makes room for several.
    private static func merged(_ steps: [Step], _ platform: [PlatformRecord]) -> [Step] {
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

    /// Pairs of a record never pushed and an unseen platform record of the same key, scope and type,
    /// and of a record and its platform record that was changed there to the same scope and type:
    /// worth reading the value and comparing.
    package static func adoptionCandidates(
        variables: [Variable], platform: [PlatformRecord], rules: Rules
    ) -> [(variable: Variable, record: PlatformRecord)] {
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

    /// What makes room goes before what takes it; other deletions go last, so that a value is never missing
    /// for longer than it must be. A sensitive variable that is renamed is made under its new name before
    /// the old record goes.
    private static func ordered(_ steps: [Step], _ platform: [PlatformRecord]) -> [Step] {
        let records = Dictionary(
            platform.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        /// The place that a step leaves; nil where it leaves none.
        func left(by step: Step) -> PlatformRecord? {
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
        /// The steps that must be done before one.
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
        let needed = steps.indices.map(needs)
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
            // Two that wait for each other cannot be ordered: Vercel will say so.
            let next = open.firstIndex { needed[$0].allSatisfy(done.contains) } ?? 0
            done.insert(open[next])
            order.append(steps[open.remove(at: next)])
        }
        return order
    }
}

extension PushPlan.Rules {
    /// Tells whether a record is to be looked at. One that has lost one of the places is meant too:
    /// the platform still has it there.
    package func includes(_ variable: Variable) -> Bool {
        (records?.contains(variable.id) ?? true || makingRoom.contains(variable.id))
            && (includes(key: variable.name, variable.attributes.scope)
                || variable.remote.map { includes(key: variable.name, $0.agreed.scope) } ?? false)
    }

    func includes(key: String, _ scope: Scope) -> Bool {
        guard keys?.contains(key) ?? true else { return false }
        guard let places else { return true }
        return !scope.targets.isDisjoint(with: places.targets)
            || !Set(scope.customEnvironments).isDisjoint(with: places.customEnvironments)
    }
}
