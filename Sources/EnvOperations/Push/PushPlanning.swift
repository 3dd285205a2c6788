internal import Vault

/// Decides what a push does with each record by itself.
struct PushPlanning {
    enum SendDecision {
        case nothing
        case unchanged
        case forgotten
        case steps([PushPlan.Step])
        case conflict(RecordNote)
        /// Vercel does not list its record and may only hide it; whether there is something to send.
        case unlisted(needsSending: Bool)
        /// An integration changed its record, and the vault has nothing to send.
        case aside(RecordNote)
    }

    private let variables: [Variable]
    private let platform: ListedRecords
    private let vercelByID: [String: VercelRecord]
    private let owners: [String: Variable]
    /// Records on Vercel without a record in the vault, by key.
    private let unownedRecords: [String: [VercelRecord]]
    private let adopted: [Identifier: VercelRecord]
    private let rules: PushPlan.Rules
    private let vacated: VacatedScopes

    init(
        variables: [Variable], platform: ListedRecords, adopted: [Identifier: VercelRecord],
        rules: PushPlan.Rules
    ) {
        self.variables = variables
        self.platform = platform
        self.adopted = adopted
        self.rules = rules
        vacated = VacatedScopes(variables)
        vercelByID = Dictionary(
            platform.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        owners = Dictionary(
            variables.compactMap { variable in variable.remote.map { ($0.id, variable) } },
            uniquingKeysWith: { first, _ in first })
        unownedRecords = Dictionary(
            grouping: platform.filter { [owners] in owners[$0.id] == nil }, by: \.key)
    }

    func sendDecision(of variable: Variable) -> SendDecision {
        if rules.makingRoom.contains(variable.id), variable.isLive,
            let decision = narrowing(variable)
        {
            return decision
        }
        if variable.isLive, let record = adopted[variable.id] {
            return adoption(of: record, by: variable)
        }
        guard let remote = variable.remote else {
            return variable.isLive ? neverPushed(variable) : .nothing
        }
        guard let record = vercelByID[remote.id] else { return gone(variable) }
        let isChangedThere = record.updatedAt != remote.agreedUpdatedAt
        if isChangedThere, record.integration != nil, !rules.force,
            !SyncState.isChangedHere(variable)
        {
            return .aside(RecordNote(record, "an integration changed it on Vercel", way: .managed))
        }
        // Even if nothing changed here, Vercel does not have what the vault says. Without a value,
        // the vault says nothing about it.
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
        // A rename that was sent but not read back is sent again.
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
            guard variable.currentVersion > 0 else { return .conflict(renameConflict(variable)) }
            // Vercel cannot rename a sensitive variable: the new one is created before the old one
            // is deleted.
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

    /// Handles a record on Vercel with equal value, scope and type. Only name and comment can
    /// differ, and unseen changes of them are not overwritten.
    private func adoption(of record: VercelRecord, by variable: Variable) -> SendDecision {
        let (ours, theirs) = (variable.attributes.comment, record.attributes.comment)
        let known = variable.remote
        // A record that was never pushed takes over the comment if it has none.
        let isCommentSame = ours == theirs || known == nil && ours == nil
        if isCommentSame && variable.name == record.key { return .unchanged }
        let isCommentSeen = isCommentSame || theirs == known?.agreed.comment
        let isNameSeen = variable.name == record.key || record.key == known?.key
        guard isCommentSeen && isNameSeen || rules.force else {
            return .conflict(known == nil ? taken(variable, [record]) : changed(variable, record))
        }
        var equal = variable
        // The value was just found equal, so a different one later is another user's.
        equal.remote?.pushedVersion = variable.currentVersion
        return .steps([
            step(equal, variable.attributes, .update(id: record.id, withValue: false))
        ])
    }

    /// Sends only the scope of a record that makes room for another one: never targets that
    /// Vercel's value was not for. Returns nil if it would keep none, so that only the whole record
    /// can be sent.
    private func narrowing(_ variable: Variable) -> SendDecision? {
        guard let remote = variable.remote, let record = vercelByID[remote.id],
            variable.attributes.scope != remote.agreed.scope
        else { return .nothing }
        if record.updatedAt != remote.agreedUpdatedAt && !rules.force {
            return .conflict(changed(variable, record))
        }
        var attributes = remote.agreed
        attributes.scope = attributes.scope.shared(with: [variable.attributes.scope])
        guard !attributes.scope.isEmpty else { return nil }
        guard attributes.scope != remote.agreed.scope else { return .nothing }
        let others = unseen(in: attributes.scope, of: variable)
        if !others.isEmpty { return .conflict(taken(variable, others)) }
        return .steps([step(variable, attributes, .update(id: record.id, withValue: false))])
    }

    private func neverPushed(_ variable: Variable) -> SendDecision {
        // A record without a value has nothing to send.
        guard variable.currentVersion > 0 else { return .nothing }
        let scope = variable.attributes.scope
        let others = unseen(in: scope, of: variable)
        if others.isEmpty { return .steps([step(variable, variable.attributes, .create)]) }
        guard canReplace(others) else { return .conflict(taken(variable, others)) }
        // One of them gets the value and the scope, so that there is always one. Vercel never
        // changes a sensitive record back.
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

    /// Returns whether records in the way may be replaced, because the user requested it and they
    /// have no record in the vault.
    private func canReplace(_ others: [VercelRecord]) -> Bool {
        rules.force && others.allSatisfy { owners[$0.id] == nil && $0.attributes.kind != .system }
    }

    /// Removes a scope from a record on Vercel that the vault has not seen, or deletes it if none
    /// would be left.
    private func makingRoom(_ record: VercelRecord, for scope: Scope) -> PushPlan.Step {
        var attributes = record.attributes
        attributes.scope = attributes.scope.subtracting(scope)
        guard !attributes.scope.isEmpty else { return deletions(of: [record])[0] }
        return PushPlan.Step(
            variable: nil, key: record.key, attributes: attributes,
            action: .update(id: record.id, withValue: false))
    }

    private func gone(_ variable: Variable) -> SendDecision {
        // What was seen to be gone needs no deletion.
        if variable.isRemovedEverywhere { return .nothing }
        guard platform.isComplete else {
            return .unlisted(needsSending: SyncState.isChangedHere(variable))
        }
        guard variable.isLive else {
            // An unknown record in its place is not what both sides agreed on.
            let isFree = vacated.place(of: variable).map { place in
                !unowned(variable.remote?.key ?? "").contains(where: place.isTaken)
            }
            return isFree == false ? .nothing : .forgotten
        }
        let others = unseen(in: variable.attributes.scope, of: variable)
        guard rules.force, variable.currentVersion > 0 else {
            // Another user created it again.
            if variable.currentVersion > 0, !others.isEmpty {
                return .conflict(taken(variable, others))
            }
            return .conflict(
                .init(
                    key: variable.name, scope: variable.attributes.scope,
                    reason: "it was removed on Vercel",
                    way: variable.currentVersion == 0
                        ? .removing
                        : SyncState.isChangedHere(variable) ? .gone : .pulling(isGone: true)))
        }
        return neverPushed(variable)
    }

    /// Returns the records on Vercel in the way of `scope` that stay there, because they have no
    /// record in the vault or this push does not move that one.
    private func unseen(in scope: Scope, of variable: Variable) -> [VercelRecord] {
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

    private func changed(_ variable: Variable, _ record: VercelRecord) -> RecordNote {
        let who = record.phrase(for: record.updatedBy, as: rules.ownUser)
        let pause = who.contains(",") ? "," : ""
        return .init(
            key: variable.name, scope: variable.attributes.scope,
            reason: "it was changed on Vercel\(who)\(pause) since the last push",
            way: .init(record, of: variable))
    }

    /// - Parameter records: The records in the way; not empty.
    private func taken(_ variable: Variable, _ records: [VercelRecord]) -> RecordNote {
        let owned = records.first { owners[$0.id] != nil }
        let record = owned ?? records.first { $0.attributes.kind == .system } ?? records.first
        let place = record?.attributes.scope.description ?? ""
        func note(_ reason: String, _ way: RecordNote.Way) -> RecordNote {
            .init(
                key: variable.name, scope: variable.attributes.scope, reason: reason, way: way)
        }
        if let owner = owned.flatMap({ owners[$0.id] }) {
            return note(
                "Vercel has another variable for \(place), which this push would leave in place",
                .together(with: owner.name, force: rules.force))
        }
        if record?.attributes.kind == .system {
            return note("Vercel sets a variable for \(place) automatically", .reserved)
        }
        let hidden = records.first { $0.attributes.kind == .sensitive }
        return note(
            "Vercel has a variable for \(place) that the vault has no record of",
            .init(hidden ?? record, sendsValue: variable.currentVersion > 0))
    }

    /// Returns the conflict of a renamed sensitive variable without a value, which Vercel can
    /// neither rename nor create under its new name.
    private func renameConflict(_ variable: Variable) -> RecordNote {
        .init(
            key: variable.name, scope: variable.attributes.scope,
            reason: "Vercel cannot rename a sensitive variable, and the vault does not have its "
                + "value",
            way: .value)
    }

    /// Returns Vercel's records of a key without a record in the vault.
    private func unowned(_ key: String) -> [VercelRecord] {
        (unownedRecords[key] ?? []).filter { $0.attributes.kind != .system }
    }

    /// Returns Vercel's records without a record in the vault in scopes to clear, each with the
    /// part of its scope to clear.
    private func occupants(of left: [Variable]) -> [(record: VercelRecord, scope: Scope)] {
        let places = Dictionary(
            grouping: left.compactMap { vacated.place(of: $0) }, by: \.key)
        let wanted = rules.vacated
        let keys = Set(places.keys).union(wanted.map(\.key))
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
            for wanted in wanted where wanted.key == record.key {
                scopes += wanted.scopes ?? [own]
            }
            let shared = own.shared(with: scopes)
            return shared.isEmpty ? nil : (record, shared)
        }
    }

    /// Removes scopes that records of the vault left from what other users created there.
    func clearing(placesOf left: [Variable]) -> [PushPlan.Step] {
        occupants(of: left).map { makingRoom($0.record, for: $0.scope) }
    }

    func conflicts(inPlacesOf left: [Variable]) -> [RecordNote] {
        var renamed: [String: String] = [:]
        for variable in left where variable.isLive {
            guard let record = variable.remote.flatMap({ vercelByID[$0.id] }),
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

    /// Returns the selected records that only Vercel has.
    func prunable() -> [VercelRecord] {
        let kept = Set(adopted.values.map(\.id))
        return platform.filter { record in
            owners[record.id] == nil && !kept.contains(record.id)
                && rules.includes(key: record.key, record.attributes.scope)
                && record.attributes.kind != .system
        }
    }

    /// Returns deletions of records without a record in the vault.
    func deletions(
        of records: [VercelRecord], successors: [String: Identifier] = [:]
    ) -> [PushPlan.Step] {
        records.map {
            PushPlan.Step(
                variable: nil, key: $0.key, attributes: $0.attributes, action: .delete(id: $0.id),
                successor: successors[$0.id])
        }
    }
}
