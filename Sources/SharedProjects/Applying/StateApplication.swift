package import Groups
package import Sealing
package import Vault

/// Brings a project of the vault to the state that the fold of a group's changes has.
///
/// Runs in a transaction with the root, so what it writes is accepted. Version numbers are this
/// vault's own; no version that the vault has is removed.
package struct StateApplication {
    /// What is known of a change without opening its values.
    package struct Origin: Sendable {
        package let author: Identifier
        /// By the author's clock, in milliseconds since 1970.
        package let createdAt: UInt64
    }

    private let state: CompartmentState
    let origins: [GroupHash: Origin]
    let me: Identifier
    private let openValue: (ChangeReference, SecretArena) throws -> SecretSlice?
    private let members: Set<Identifier>
    let writers: Set<Identifier>
    let affectsPrograms: (String) -> Bool
    private let claim: (ChangeReference) -> Operation.Claim?
    let now: UInt64
    private let attaches: Bool
    let arena = SecretArena()
    /// Variables that only this vault had in a project that was attached again.
    package private(set) var movedAside: (names: [String], project: String)?
    /// The values that others stored and this vault did not have.
    package private(set) var newValues: Set<ChangeReference> = []

    /// - Parameters:
    ///   - me: This member; what it wrote itself is no arrival.
    ///   - attaches: Whether the project was shared before: a variable of the same name and scope is
    ///     the group's, and its value here stays as a version.
    ///   - members: The active members; the rotations of others have ended.
    ///   - writers: The members who may only offer values.
    ///   - affectsPrograms: Whether a variable of this name changes what programs run or read.
    ///   - claim: Returns the claim of an operation.
    ///   - openValue: Opens the value of an operation; nil if this member may not, and an error if
    ///     it does not open.
    package init(
        _ state: CompartmentState, origins: [GroupHash: Origin], me: Identifier, now: UInt64,
        members: Set<Identifier>, writers: Set<Identifier>, attaches: Bool = false,
        affectsPrograms: @escaping (String) -> Bool,
        claim: @escaping (ChangeReference) -> Operation.Claim?,
        openValue: @escaping (ChangeReference, SecretArena) throws -> SecretSlice?
    ) {
        (self.state, self.origins, self.me) = (state, origins, me)
        (self.now, self.attaches, self.openValue) = (now, attaches, openValue)
        (self.members, self.writers) = (members, writers)
        self.affectsPrograms = affectsPrograms
        self.claim = claim
    }

    /// Changes the vault's project, and what is kept about it.
    package mutating func apply(
        to transaction: inout VaultTransaction, _ shared: inout SharedProject,
        _ known: inout SharedState
    ) throws -> [Arrival] {
        var arrivals: [Arrival] = []
        var places = Dictionary(
            transaction.index.variables.enumerated().map { ($0.element.id, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        var records = Dictionary(
            known.records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var contested: [SharedProject.ContestedVariable] = []
        var offered: [Identifier] = []
        var attached: Set<Identifier> = []
        var notices: [RotationNotice] = []
        var held = Dictionary(
            shared.held.map { ($0.variable, $0) }, uniquingKeysWith: { first, _ in first })
        let precedents = Precedents(of: shared, in: transaction.index)
        for record in state.records {
            let old = records[record.id]
            // A variable of this name may have been erased here since.
            let place =
                old.flatMap { places[$0.variable] }
                ?? (attaches ? self.place(of: record, in: shared, attached, transaction) : nil)
            let position: Int
            if let place {
                position = place
            } else {
                guard record.isInUse || record.contested.contains(.late) else { continue }
                position = insert(record, in: shared.project, &transaction)
                places[transaction.index.variables[position].id] = position
            }
            var new = old ?? blank(record, transaction.index.variables[position])
            new.variable = transaction.index.variables[position].id
            attached.insert(new.variable)
            let before = transaction.index.variables[position]
            try setAttributes(record, of: &new, at: position, &transaction)
            let isUnreadable = try setValue(record, of: &new, at: position, &transaction)
            new.candidates = record.candidates.filter { !$0.value.isEmpty }
            new.claims = claims(of: record, new)
            if new.isRotating {
                new.isTakenOver = !record.rotations.contains { origins[$0.change]?.author == me }
            }
            records[record.id] = new
            let after = transaction.index.variables[position]
            newValues.formUnion(self.newValues(of: record, before: old))
            notices += self.notices(of: record, about: after.id)
            held[after.id] = self.held(
                held[after.id], record, from: place == nil ? nil : before, to: after, precedents)
            var contest = SharedProject.Contest(record.contested)
            // What is out of use needs a decision only if somebody without the right removed it.
            if !record.isInUse { contest.formIntersection(.late) }
            if isUnreadable { contest.insert(.unreadable) }
            if !contest.isEmpty {
                contested.append(
                    SharedProject.ContestedVariable(variable: new.variable, contest: contest))
            }
            if record.isInUse, !record.offers.isEmpty { offered.append(new.variable) }
            // What was attached and is the same here is nothing new.
            if attaches, old == nil, place != nil, after.currentVersion == before.currentVersion {
                continue
            }
            arrivals += self.arrivals(
                record, old, before: place == nil ? nil : before, after: after, contest)
        }
        arrivals += withdraw(&records, places, &transaction)
        if attaches {
            movedAside = try moveAside(besides: attached, of: shared.project, &transaction)
        }
        known.records = records.values.sorted { $0.id < $1.id }
        known.candidates = state.candidates.filter { !$0.value.isEmpty }
        known.heads = state.heads
        known.lateCount = UInt32(clamping: state.late.count)
        known.waitingCount = UInt32(clamping: state.waiting.count)
        shared.contested = contested.sorted { $0.variable < $1.variable }
        (shared.offered, shared.notices) = (offered.sorted(), notices)
        shared.held = held.values.filter { places[$0.variable] != nil }
            .sorted { $0.variable < $1.variable }
        shared.proposal = state.bindings.count == 1 ? state.bindings[0] : nil
        try transaction.keep(shared.entry)
        try transaction.keep(known.entry)
        return arrivals.enumerated().sorted {
            ($0.element.name, $0.element.scope.description, $0.offset)
                < ($1.element.name, $1.element.scope.description, $1.offset)
        }.map(\.element)
    }

    // MARK: Parts

    /// Removes variables that only changes that do not count had added: the group does not have them. They
    /// are restored if those changes count again.
    private func withdraw(
        _ records: inout [Identifier: SharedState.Record], _ places: [Identifier: Int],
        _ transaction: inout VaultTransaction
    ) -> [Arrival] {
        var arrivals: [Arrival] = []
        let present = Set(state.records.map(\.id))
        for (id, record) in records where !present.contains(id) && record.isInUse {
            guard let place = places[record.variable], let last = record.versions.last,
                record.versions.allSatisfy({ state.late[$0.reference.change] != nil })
            else { continue }
            records[id]?.isInUse = false
            guard transaction.index.variables[place].isLive else { continue }
            transaction.index.variables[place].deletedAt = now
            arrivals.append(
                Arrival(
                    kind: .withdrawn, name: record.name, scope: record.scope, author: last.author))
        }
        return arrivals
    }

    private func insert(
        _ record: RecordState, in project: Identifier, _ transaction: inout VaultTransaction
    ) -> Int {
        let created = origin(of: record.candidates[.name])?.createdAt ?? now
        transaction.index.variables.append(
            Variable(
                project: project, name: record.names.first ?? "UNNAMED",
                attributes: VariableAttributes(
                    kind: record.type, scope: record.scopes.first ?? Scope(targets: .development),
                    comment: record.comment), createdAt: created))
        return transaction.index.variables.count - 1
    }

    private func blank(_ record: RecordState, _ variable: Variable) -> SharedState.Record {
        SharedState.Record(
            id: record.id, variable: variable.id, name: variable.name,
            scope: variable.attributes.scope, kind: variable.attributes.kind,
            comment: variable.attributes.comment, rotationSeconds: variable.rotationSeconds)
    }

    private func origin(of references: [ChangeReference]?) -> Origin? {
        (references ?? []).compactMap { origins[$0.change] }.max { $0.createdAt < $1.createdAt }
    }

    /// A contested name or scope stays as it is here, if that is one of those in question.
    private func setAttributes(
        _ record: RecordState, of known: inout SharedState.Record, at position: Int,
        _ transaction: inout VaultTransaction
    ) throws {
        var variable = transaction.index.variables[position]
        if !record.names.contains(where: { $0.utf8.elementsEqual(variable.name.utf8) }),
            let name = record.names.first
        {
            known.addToNumbers(try transaction.rename(at: [position], to: name, time: now))
            variable = transaction.index.variables[position]
        }
        if !record.scopes.contains(variable.attributes.scope), let scope = record.scopes.first {
            variable.attributes.scope = scope
        }
        variable.attributes.kind = record.type
        variable.attributes.comment = record.comment
        variable.rotationSeconds = record.reminder
        if variable != transaction.index.variables[position] {
            variable.updatedAt = now
            transaction.index.variables[position] = variable
        }
        (known.name, known.scope) = (variable.name, variable.attributes.scope)
        (known.kind, known.comment) = (record.type, record.comment)
        known.rotationSeconds = record.reminder
    }

    /// - Returns: Whether a value in question does not open.
    private func setValue(
        _ record: RecordState, of known: inout SharedState.Record, at position: Int,
        _ transaction: inout VaultTransaction
    ) throws -> Bool {
        var isUnreadable = false
        for choice in record.choices + record.offers
        where !known.versions.contains(where: { $0.reference == choice.version }) {
            let value: SecretSlice?
            do { value = try openValue(choice.version, arena) } catch is GroupError {
                if record.choices.contains(choice) { isUnreadable = true }
                continue
            }
            guard let value else { continue }
            let time = min(origins[choice.version.change]?.createdAt ?? now, now)
            let numbers = known.versions.map(\.number)
            var same = attaches ? try current(equalTo: value, at: position, &transaction) : nil
            if let found = same, numbers.contains(found) { same = nil }
            let number =
                try same
                ?? value.withBytes { bytes in
                    try transaction.storeAside(bytes, forVariablesAt: [position], at: time)
                }
            known.versions.append(
                SharedState.Version(
                    number: number, reference: choice.version, id: choice.id,
                    author: origins[choice.version.change]?.author ?? .zero))
        }
        func numbers(of choices: [RecordState.Choice]) -> [UInt64] {
            choices.compactMap { choice in
                known.versions.first { $0.reference == choice.version }?.number
            }
        }
        (known.choices, known.offers) = (numbers(of: record.choices), numbers(of: record.offers))
        known.isInUse = record.isInUse
        let isLive = transaction.index.variables[position].isLive
        if !record.isInUse {
            if isLive { transaction.index.variables[position].deletedAt = now }
            return false
        }
        if !isLive { transaction.index.variables[position].deletedAt = nil }
        let current = transaction.index.variables[position].currentVersion
        let chosen = known.choices.contains(current) ? current : known.choices.first
        if let chosen, chosen != current {
            _ = transaction.makeCurrent(version: chosen, ofVariableAt: position, at: now)
        }
        known.version = transaction.index.variables[position].currentVersion
        return isUnreadable
    }

    private func newValues(
        of record: RecordState, before old: SharedState.Record?
    ) -> [ChangeReference] {
        let known = Set((old?.versions ?? []).map(\.reference))
        return (record.choices + record.offers).map(\.version).filter {
            !known.contains($0) && origins[$0.change].map { $0.author != me } == true
        }
    }

    private func notices(
        of record: RecordState, about variable: Identifier
    ) -> [RotationNotice] {
        guard record.isInUse else { return [] }
        return record.rotations.compactMap { reference in
            guard let origin = origins[reference.change], origin.author != me,
                members.contains(origin.author)
            else { return nil }
            return RotationNotice(
                variable: variable, reference: reference, author: origin.author,
                beganAt: origin.createdAt)
        }
    }

    /// Returns the claims about versions that this vault has.
    private func claims(of record: RecordState, _ known: SharedState.Record) -> [SharedState.Claim]
    {
        let all = record.claims.compactMap { reference -> SharedState.Claim? in
            guard let claim = self.claim(reference),
                let version = known.versions.first(where: { $0.reference == claim.version })
            else { return nil }
            return SharedState.Claim(
                version: version.number, remoteID: claim.remoteID, key: claim.key,
                updatedAt: claim.updatedAt)
        }
        return Set(all).sorted()
    }
}
