internal import SyncPlan
internal import Vault

/// What a plan says of records for people: a note for each record of the vault, not for each target.
struct PlanNotes {
    private(set) var conflicts: [RecordNote] = []
    private(set) var managed: [RecordNote] = []
    private(set) var aside: [RecordNote] = []
    private(set) var blocked: [RecordNote] = []
    private(set) var unlisted: [Variable] = []
    private(set) var unchanged: [Variable] = []
    private(set) var forgotten: [Identifier] = []
    /// What would have to become readable, and Vercel keeps sensitive.
    private(set) var finalTypes: [Variable] = []

    private let state: ProjectState
    private let rules: PushPlan.Rules
    /// By Vercel's id.
    private let owners: [String: Variable]
    /// The records of the vault, and those on Vercel, that have a note.
    private var noted: Set<Identifier> = []
    private var notedThere: Set<String> = []
    /// Records of the vault that Vercel shows as they are.
    private var seen: Set<Identifier> = []
    /// Records of the vault that the journal shows to have another record on Vercel now.
    private var moved: Set<Identifier> = []

    init(_ plan: ProjectPlan, _ steps: [PushPlan.Step], _ state: ProjectState) {
        (self.state, rules) = (state, state.rules)
        owners = Dictionary(
            firstOf: state.variables.compactMap { variable in
                variable.remote.map { ($0.id, variable) }
            })
        for agreement in plan.keys.lazy.flatMap(\.agreements) {
            guard let agreement, let variable = state.variable(agreement.content.version),
                variable.remote.map({ $0.id != agreement.record }) ?? false,
                variable.remote.map({ $0.key != variable.name }) ?? false
            else { continue }
            moved.insert(variable.id)
        }
        moved.formUnion(
            steps.filter { $0.sendsValue && state.isDoubtful($0) }.compactMap { $0.variable?.id })
        for (key, plan) in zip(state.keys, plan.keys) { note(plan, of: key) }
        noteLost()
        let sent = Set(steps.compactMap { $0.variable?.id })
        let all = state.variables.sorted {
            ($0.name, $0.attributes.scope.description) < ($1.name, $1.attributes.scope.description)
        }
        for variable in all
        where rules.includes(variable) && !noted.contains(variable.id)
            && !sent.contains(variable.id) && !state.left.contains(variable.name)
        {
            judge(variable)
        }
        conflicts.sort { ($0.key, $0.scope.description) < ($1.key, $1.scope.description) }
    }

    private mutating func note(_ plan: KeyPlan, of key: KeyState) {
        func isSelected(_ target: Target) -> Bool { key.choices.targets?.contains(target) ?? true }
        for conflict in plan.conflicts where isSelected(conflict.target) {
            note(conflict.reason, at: conflict.target, of: key)
        }
        let vacated = state.vacated(key.key)
        for target in plan.behind where isSelected(target) {
            if key.wishes[target.position] != nil {
                note(.changedThere, at: target, of: key, isBehind: true)
            } else if vacated.contains(target), let record = record(at: target, of: key) {
                noteOccupant(record, at: target, of: key)
            }
        }
        for omission in plan.leftOut { note(omission.reason, at: omission.target, of: key) }
        for target in plan.same {
            if let variable = state.variable(key.wishes[target.position]?.version) {
                seen.insert(variable.id)
            }
        }
        for target in plan.notSelected where key.wishes[target.position] != nil {
            noteForeign(target, key)
        }
    }

    /// Judges a record that is neither sent nor has a note.
    private mutating func judge(_ variable: Variable) {
        let listed = variable.remote.flatMap { state.records[$0.id] }
        if !variable.isLive {
            if variable.remote != nil, !variable.isRemovedEverywhere, listed == nil,
                state.platform.isComplete
            {
                forgotten.append(variable.id)
            }
            return
        }
        // Without a value there is nothing to send.
        guard !rules.onlyMakesRoom(variable), variable.currentVersion > 0 || variable.remote != nil
        else { return }
        if variable.remote != nil, listed == nil, !state.platform.isComplete {
            unlisted.append(variable)
        } else if let listed, listed.updatedAt != variable.remote?.agreedUpdatedAt,
            !seen.contains(variable.id), !rules.force
        {
            // It left its targets, and what is hidden may be there.
            noteChanged(variable, listed, isBehind: true)
        } else {
            unchanged.append(variable)
        }
    }

    /// Notes renamed variables that Vercel lost, and removed ones that have another name there.
    private mutating func noteLost() {
        guard state.platform.isComplete else { return }
        // What this program deleted is not lost.
        let deleted = Set(
            state.sends.joined().filter { $0.action == .delete }.compactMap { $0.target?.id })
        for variable in state.variables where rules.includes(variable) && !rules.force {
            if let record = renamedThere(variable), noted.insert(variable.id).inserted {
                noteChanged(variable, record, isBehind: false)
                continue
            }
            guard variable.isLive, let remote = variable.remote, remote.key != variable.name,
                !deleted.contains(remote.id), state.records[remote.id] == nil,
                !moved.contains(variable.id),
                noted.insert(variable.id).inserted
            else { continue }
            conflicts.append(gone(variable))
        }
    }

    // MARK: Three ways

    private mutating func note(
        _ reason: Conflict, at target: Target, of key: KeyState, isBehind: Bool = false
    ) {
        let record = record(at: target, of: key)
        guard let variable = holder(of: target, key) else {
            if let record { noteOccupant(record, at: target, of: key) }
            return
        }
        // Under its new name it may be there already.
        let isElsewhere = record?.id != variable.remote?.id || moved.contains(variable.id)
        if key.wishes[target.position] == nil, isElsewhere, let record {
            return noteOccupant(record, at: target, of: key, of: variable)
        }
        // The record is that of a variable with another name now.
        if let record, let owner = owners[record.id], owner.id != variable.id, owner.isLive,
            rules.includes(owner), reason != .notOurs, reason != .managedByIntegration
        {
            if noted.insert(owner.id).inserted { noteChanged(owner, record, isBehind: isBehind) }
            return
        }
        guard noted.insert(variable.id).inserted else { return }
        if reason == .managedByIntegration {
            managed.append(note(variable, "an integration manages it on Vercel", .managed))
        } else if let record, record.id != variable.remote?.id || reason == .notOurs {
            // A value-less record that Vercel lost has nothing to send in place of another one.
            conflicts.append(
                variable.currentVersion > 0 ? taken(variable, record, key) : gone(variable))
        } else if let record {
            noteChanged(variable, record, isBehind: isBehind)
        } else if let record = renamedThere(variable) {
            noteChanged(variable, record, isBehind: isBehind)
        } else {
            conflicts.append(gone(variable))
        }
    }

    /// Returns the record of a variable if it has another name on Vercel now.
    private func renamedThere(_ variable: Variable) -> VercelRecord? {
        guard let remote = variable.remote, let record = state.records[remote.id],
            record.key != remote.key
        else { return nil }
        return record
    }

    private mutating func noteChanged(
        _ variable: Variable, _ record: VercelRecord, isBehind: Bool
    ) {
        if isBehind, record.integration != nil {
            return aside.append(
                RecordNote(record, "an integration changed it on Vercel", way: .managed))
        }
        // Without a value, the vault says nothing about it.
        if isBehind, variable.currentVersion == 0, !SyncState.isChangedHere(variable) {
            return unchanged.append(variable)
        }
        let who = record.phrase(for: record.updatedBy, as: rules.ownUser)
        let pause = who.contains(",") ? "," : ""
        conflicts.append(
            note(
                variable, "it was changed on Vercel\(who)\(pause) since the last push",
                .init(record, of: variable)))
    }

    private func gone(_ variable: Variable) -> RecordNote {
        note(
            variable, "it was removed on Vercel",
            variable.currentVersion == 0
                ? .removing
                : SyncState.isChangedHere(variable) ? .gone : .pulling(isGone: true))
    }

    /// Notes a record in a target that was to become empty.
    private mutating func noteOccupant(
        _ record: VercelRecord, at target: Target, of key: KeyState, of variable: Variable? = nil
    ) {
        if let variable { noted.insert(variable.id) }
        guard notedThere.insert(record.id).inserted else { return }
        let own = state.table.set(record.attributes.scope)
        let vacated = state.vacated(key.key)
        let left = TargetSet(
            own.filter { target in
                key.wishes[target.position] == nil
                    && (key.agreements[target.position] != nil || vacated.contains(target))
            })
        let isRenamed =
            variable?.isLive == true && variable?.name != key.key
            && variable.map { !moved.contains($0.id) } ?? false
        conflicts.append(
            RecordNote(
                occupant: record, of: state.table.scope(left.isEmpty ? [target] : left),
                renamed: isRenamed ? variable?.name : nil))
    }

    // MARK: What is left out

    private mutating func note(_ reason: Omission, at target: Target, of key: KeyState) {
        guard let variable = holder(of: target, key) else { return }
        // Its new name has a note, or is left out.
        if case .waits = reason { return }
        guard noted.insert(variable.id).inserted else { return }
        switch reason {
        case .waits: break
        case .hidden:
            let isListed = record(at: target, of: key) != nil
            blocked.append(
                note(
                    variable,
                    isListed || variable.remote == nil
                        ? "it would change production"
                        : "Vercel does not list it, and may only hide it"))
        case .unreadable, .valueWantedElsewhere:
            let own = variable.remote.flatMap { state.records[$0.id] }
            if own?.integration != nil, !rules.force {
                managed.append(note(variable, "an integration manages it on Vercel", .managed))
                return
            }
            conflicts.append(
                note(
                    variable,
                    variable.remote.map { $0.key != variable.name } ?? false
                        ? "Vercel cannot rename a variable without its value, which the vault does not have"
                        : "the vault does not have the value that Vercel has there", .value))
        case .typeIsFinal: finalTypes.append(variable)
        case .refused:
            conflicts.append(note(variable, "Vercel would refuse it"))
        case .sharesRecord:
            conflicts.append(
                note(
                    variable, "its record on Vercel has targets too that this push does not change")
            )
        }
    }

    /// Notes a target that is taken by a variable that this push does not send.
    private mutating func noteForeign(_ target: Target, _ key: KeyState) {
        guard let record = record(at: target, of: key), let variable = holder(of: target, key),
            !state.left.contains(key.key), rules.includes(variable),
            !rules.onlyMakesRoom(variable), noted.insert(variable.id).inserted
        else { return }
        conflicts.append(taken(variable, record, key))
    }

    // MARK: Words

    /// The record of the vault that a target is about: the one that is wanted there, or was.
    private func holder(of target: Target, _ key: KeyState) -> Variable? {
        state.variable(
            (key.wishes[target.position] ?? key.agreements[target.position]?.content)?.version)
    }

    private func record(at target: Target, of key: KeyState) -> VercelRecord? {
        key.records.first { $0.targets.contains(target) }.flatMap { state.records[$0.id] }
    }

    /// - Parameter first: A record in the way; others may be too.
    private func taken(_ variable: Variable, _ first: VercelRecord, _ key: KeyState) -> RecordNote {
        let records = key.records.compactMap { state.records[$0.id] }.filter {
            $0.attributes.scope.overlaps(variable.attributes.scope) && $0.id != variable.remote?.id
        }
        let isOwned = { [owners] (record: VercelRecord) in
            owners[record.id].map { $0.isLive && $0.id != variable.id } ?? false
        }
        let record =
            records.first(where: isOwned) ?? records.first { $0.attributes.kind == .system }
            ?? records.first ?? first
        let place = record.attributes.scope.description
        if isOwned(record), let owner = owners[record.id] {
            return note(
                variable,
                "Vercel has another variable for \(place), which this push would leave in place",
                .together(with: owner.name, force: rules.force))
        }
        if record.attributes.kind == .system {
            return note(
                variable, "Vercel sets a variable for \(place) automatically", .reserved)
        }
        let hidden = records.first { $0.attributes.kind == .sensitive }
        return note(
            variable, "Vercel has a variable for \(place) that the vault has no record of",
            .init(hidden ?? record, sendsValue: variable.currentVersion > 0))
    }

    private func note(
        _ variable: Variable, _ reason: String, _ way: RecordNote.Way = .either
    ) -> RecordNote {
        .init(key: variable.name, scope: variable.attributes.scope, reason: reason, way: way)
    }
}
