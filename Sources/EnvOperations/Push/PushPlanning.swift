internal import Vault

/// Judges each record of a push on its own. Pure.
struct PushPlanning {
    enum Judgement {
        case nothing
        case unchanged
        case forgotten
        case steps([PushPlan.Step])
        case conflict(RecordNote)
    }

    private let variables: [Variable]
    private let platform: [PlatformRecord]
    private let platformByID: [String: PlatformRecord]
    private let owners: [String: Variable]
    /// Records of the platform that no record of the vault stands for, by key.
    private let strangers: [String: [PlatformRecord]]
    private let adopted: [Identifier: PlatformRecord]
    private let rules: PushPlan.Rules
    private let vacated: VacatedScopes

    init(
        variables: [Variable], platform: [PlatformRecord], adopted: [Identifier: PlatformRecord],
        rules: PushPlan.Rules
    ) {
        self.variables = variables
        self.platform = platform
        self.adopted = adopted
        self.rules = rules
        vacated = VacatedScopes(variables)
        platformByID = Dictionary(
            platform.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        owners = Dictionary(
            variables.compactMap { variable in variable.remote.map { ($0.id, variable) } },
            uniquingKeysWith: { first, _ in first })
        strangers = Dictionary(
            grouping: platform.filter { [owners] in owners[$0.id] == nil }, by: \.key)
    }

    func judgement(of variable: Variable) -> Judgement {
        if rules.makingRoom.contains(variable.id), variable.isLive { return narrowing(variable) }
        if variable.isLive, let record = adopted[variable.id] {
            return adoption(of: record, by: variable)
        }
        guard let remote = variable.remote else {
            return variable.isLive ? neverPushed(variable) : .nothing
        }
        guard let record = platformByID[remote.id] else { return gone(variable) }
        let isChangedThere = record.updatedAt != remote.agreedUpdatedAt
        // Also where nothing changed here: the platform does not hold what the vault says. Without a
        // value the vault says nothing of it.
        let saysSomething =
            variable.currentVersion > 0 || !variable.isLive || variable.attributes != remote.agreed
        if isChangedThere && !rules.force && saysSomething {
            return .conflict(changed(variable, record))
        }
        guard variable.isLive else {
            return .steps([step(variable, record.attributes, .delete(id: record.id))])
        }
        let withValue =
            variable.currentVersion > 0
            && (isChangedThere || variable.currentVersion != remote.pushedVersion)
        let isRenamed = variable.name != record.key
        // A change of the name that was sent, and not read back, is sent again.
        guard
            withValue || isRenamed || variable.name != remote.key
                || variable.attributes != remote.agreed
        else {
            return .unchanged
        }
        let others = unseen(in: variable.attributes.scope, of: variable)
        if !others.isEmpty, !canReplace(others) {
            return .conflict(taken(variable, others))
        }
        let room = others.map { makingRoom($0, for: variable.attributes.scope) }
        if isRenamed && record.attributes.kind == .sensitive {
            guard variable.currentVersion > 0 else { return .conflict(unnamable(variable)) }
            // The platform renames no sensitive variable: the new one is made before the old one goes.
            let old = PushPlan.Step(
                variable: nil, key: record.key, attributes: record.attributes,
                action: .delete(id: record.id), successor: variable.id)
            return .steps(room + [step(variable, variable.attributes, .create), old])
        }
        return .steps(
            room + [
                step(variable, variable.attributes, .update(id: record.id, withValue: withValue))
            ])
    }

    /// A record of the platform with an equal value, scope and type. Name and comment are left, and
    /// what was changed there of them is not overwritten unseen.
    private func adoption(of record: PlatformRecord, by variable: Variable) -> Judgement {
        let (ours, theirs) = (variable.attributes.comment, record.attributes.comment)
        let known = variable.remote
        // A record that was never pushed takes the comment along where it has none.
        let isCommentSame = ours == theirs || known == nil && ours == nil
        if isCommentSame && variable.name == record.key { return .unchanged }
        let isCommentSeen = isCommentSame || theirs == known?.agreed.comment
        let isNameSeen = variable.name == record.key || record.key == known?.key
        guard isCommentSeen && isNameSeen || rules.force else {
            return .conflict(known == nil ? taken(variable, [record]) : changed(variable, record))
        }
        var equal = variable
        // Its value was just found equal, so that another one afterwards is somebody else's.
        equal.remote?.pushedVersion = variable.currentVersion
        return .steps([
            step(equal, variable.attributes, .update(id: record.id, withValue: false))
        ])
    }

    /// What a record sends that is there for the sake of another one: its scope alone.
    private func narrowing(_ variable: Variable) -> Judgement {
        guard let remote = variable.remote, let record = platformByID[remote.id],
            variable.attributes.scope != remote.agreed.scope
        else { return .nothing }
        if record.updatedAt != remote.agreedUpdatedAt && !rules.force {
            return .conflict(changed(variable, record))
        }
        var attributes = remote.agreed
        attributes.scope = variable.attributes.scope
        let others = unseen(in: attributes.scope, of: variable)
        if !others.isEmpty { return .conflict(taken(variable, others)) }
        return .steps([step(variable, attributes, .update(id: record.id, withValue: false))])
    }

    private func neverPushed(_ variable: Variable) -> Judgement {
        // A record without a value has nothing to send and never had.
        guard variable.currentVersion > 0 else { return .nothing }
        let scope = variable.attributes.scope
        let others = unseen(in: scope, of: variable)
        if others.isEmpty { return .steps([step(variable, variable.attributes, .create)]) }
        guard canReplace(others) else { return .conflict(taken(variable, others)) }
        // One of them takes the value and the scope, so that there is one at any time. The platform gives
        // a sensitive record no other type.
        let fitting = others.filter {
            $0.attributes.scope.subtracting(scope).isEmpty
                && ($0.attributes.kind != .sensitive || variable.attributes.kind == .sensitive)
        }
        let kept = fitting.first { $0.attributes.scope == scope } ?? fitting.first
        let action = kept.map { PushPlan.Action.update(id: $0.id, withValue: true) } ?? .create
        return .steps(
            others.filter { $0.id != kept?.id }.map { makingRoom($0, for: scope) }
                + [step(variable, variable.attributes, action)])
    }

    /// Tells whether records in the way may be replaced: that was asked for, and no record of the vault
    /// stands for them.
    private func canReplace(_ others: [PlatformRecord]) -> Bool {
        rules.force && others.allSatisfy { owners[$0.id] == nil && $0.attributes.kind != .system }
    }

    /// Takes a scope from a record of the platform that the vault has not seen, or deletes what would be
    /// left without any.
    private func makingRoom(_ record: PlatformRecord, for scope: Scope) -> PushPlan.Step {
        var attributes = record.attributes
        attributes.scope = attributes.scope.subtracting(scope)
        guard !attributes.scope.isEmpty else { return deletions(of: [record])[0] }
        return PushPlan.Step(
            variable: nil, key: record.key, attributes: attributes,
            action: .update(id: record.id, withValue: false))
    }

    private func gone(_ variable: Variable) -> Judgement {
        guard variable.isLive else {
            // A stranger in its place is not what both sides agreed on.
            let isFree = vacated.place(of: variable).map { place in
                !unowned(variable.remote?.key ?? "").contains(where: place.isTaken)
            }
            return variable.isRemovedEverywhere || isFree == false ? .nothing : .forgotten
        }
        let others = unseen(in: variable.attributes.scope, of: variable)
        guard rules.force, variable.currentVersion > 0 else {
            // Somebody made it again.
            if variable.currentVersion > 0, !others.isEmpty {
                return .conflict(taken(variable, others))
            }
            return .conflict(
                .init(
                    key: variable.name, scope: variable.attributes.scope,
                    reason: "it was removed on the platform",
                    way: variable.currentVersion > 0 ? .gone : .removing))
        }
        return neverPushed(variable)
    }

    /// Records of the platform in the way of `scope` that stay there: those that no record of the vault
    /// stands for, or whose own record this push does not move out of the way.
    private func unseen(in scope: Scope, of variable: Variable) -> [PlatformRecord] {
        platform.filter { record in
            guard record.key == variable.name, record.id != variable.remote?.id,
                record.attributes.scope.overlaps(scope)
            else { return false }
            guard let owner = owners[record.id] else { return true }
            let willMove = rules.includes(owner)
            let isFreed = !owner.isLive || owner.name != record.key
            return !willMove || !isFreed && owner.attributes.scope.overlaps(scope)
        }
    }

    private func changed(_ variable: Variable, _ record: PlatformRecord) -> RecordNote {
        let who = record.phrase(for: record.updatedBy, as: rules.ownUser)
        let pause = who.contains(",") ? "," : ""
        return .init(
            key: variable.name, scope: variable.attributes.scope,
            reason: "it was changed on the platform\(who)\(pause) since the last push",
            way: .init(record, of: variable))
    }

    /// - Parameter records: What is in the way; not empty.
    private func taken(_ variable: Variable, _ records: [PlatformRecord]) -> RecordNote {
        let owned = records.first { owners[$0.id] != nil }
        let record = owned ?? records.first { $0.attributes.kind == .system } ?? records.first
        let place = record?.attributes.scope.description ?? ""
        func note(_ reason: String, _ way: RecordNote.Way) -> RecordNote {
            .init(
                key: variable.name, scope: variable.attributes.scope, reason: reason, way: way)
        }
        if let owner = owned.flatMap({ owners[$0.id] }) {
            return note(
                "the platform has another one for \(place), which this push would leave there",
                .together(with: owner.name, force: rules.force))
        }
        if record?.attributes.kind == .system {
            return note("Vercel sets one for \(place) by itself", .reserved)
        }
        let hidden = records.first { $0.attributes.kind == .sensitive }
        return note(
            "the platform has one for \(place) that this vault has not seen",
            .init(hidden ?? record, sendsValue: variable.currentVersion > 0))
    }

    /// Of a sensitive variable that was renamed here: Vercel cannot rename it, and without a value it
    /// cannot be created under its new name.
    private func unnamable(_ variable: Variable) -> RecordNote {
        .init(
            key: variable.name, scope: variable.attributes.scope,
            reason: "Vercel renames no sensitive variable, and the vault has no value of it",
            way: .value)
    }

    /// Records of Vercel of a key that no record of the vault stands for.
    private func unowned(_ key: String) -> [PlatformRecord] {
        (strangers[key] ?? []).filter { $0.attributes.kind != .system }
    }

    /// Records of Vercel that no record of the vault stands for, in places that are to be empty, with these
    /// places as far as they are theirs.
    private func occupants(of left: [Variable]) -> [(record: PlatformRecord, scope: Scope)] {
        let places = Dictionary(
            grouping: left.compactMap { vacated.place(of: $0) }, by: \.key)
        let wanted = rules.vacated
        let keys = Set(places.keys).union(wanted.map { [$0.key] } ?? [])
        return keys.sorted().flatMap(unowned).compactMap { record in
            let own = record.attributes.scope
            var scopes = (places[record.key] ?? []).filter { $0.isTaken(by: record) }.map(\.scope)
            if let places = rules.places {
                scopes = scopes.map { scope in
                    scope.shared(with: [
                        Scope(
                            targets: places.targets,
                            customEnvironments: places.customEnvironments,
                            branch: scope.branch)
                    ])
                }
            }
            if let wanted, wanted.key == record.key { scopes += wanted.scopes ?? [own] }
            let shared = own.shared(with: scopes)
            return shared.isEmpty ? nil : (record, shared)
        }
    }

    /// Takes the places that records of the vault left from what somebody made there.
    func clearing(placesOf left: [Variable]) -> [PushPlan.Step] {
        occupants(of: left).map { makingRoom($0.record, for: $0.scope) }
    }

    func conflicts(inPlacesOf left: [Variable]) -> [RecordNote] {
        var renamed: [String: String] = [:]
        for variable in left where variable.isLive {
            guard let record = variable.remote.flatMap({ platformByID[$0.id] }),
                record.key != variable.name
            else { continue }
            renamed[record.key] = variable.name
        }
        return occupants(of: left).map {
            .init(occupant: $0.record, of: $0.scope, renamed: renamed[$0.record.key])
        }
    }

    private func step(
        _ variable: Variable, _ attributes: VariableAttributes, _ action: PushPlan.Action
    ) -> PushPlan.Step {
        PushPlan.Step(
            variable: variable, key: variable.name, attributes: attributes, action: action)
    }

    /// Deletions of records that only the platform has.
    func pruning() -> [PushPlan.Step] {
        let kept = Set(adopted.values.map(\.id))
        return deletions(
            of: platform.filter { record in
                owners[record.id] == nil && !kept.contains(record.id)
                    && rules.includes(key: record.key, record.attributes.scope)
                    && record.attributes.kind != .system
            })
    }

    /// Deletions of records that the vault has no record of.
    func deletions(
        of records: [PlatformRecord], successors: [String: Identifier] = [:]
    ) -> [PushPlan.Step] {
        records.map {
            PushPlan.Step(
                variable: nil, key: $0.key, attributes: $0.attributes, action: .delete(id: $0.id),
                successor: successors[$0.id])
        }
    }
}
