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

        package init(author: Identifier, createdAt: UInt64) {
            (self.author, self.createdAt) = (author, createdAt)
        }
    }

    /// What came from colleagues, for people.
    package struct Arrival: Equatable, Sendable {
        package enum Kind: Equatable, Sendable {
            case added, changed, removed, contested, offered, unreadable
        }

        package let kind: Kind
        package let name: String
        package let scope: Scope
        package let author: Identifier
    }

    private let state: CompartmentState
    private let origins: [GroupHash: Origin]
    private let me: Identifier
    private let openValue: (ChangeReference, SecretArena) throws -> SecretSlice?
    private let now: UInt64
    private let arena = SecretArena()

    /// - Parameters:
    ///   - me: This member; what it wrote itself is no arrival.
    ///   - openValue: Opens the value of an operation; nil if this member may not, and an error if
    ///     it does not open.
    package init(
        _ state: CompartmentState, origins: [GroupHash: Origin], me: Identifier, now: UInt64,
        openValue: @escaping (ChangeReference, SecretArena) throws -> SecretSlice?
    ) {
        (self.state, self.origins, self.me) = (state, origins, me)
        (self.now, self.openValue) = (now, openValue)
    }

    /// Changes the vault's project, and what is kept about it.
    package func apply(
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
        for record in state.records {
            let old = records[record.id]
            // A variable of this name may have been erased here since.
            let place = old.flatMap { places[$0.variable] }
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
            let before = transaction.index.variables[position]
            setAttributes(record, of: &new, at: position, &transaction)
            let isUnreadable = try setValue(record, of: &new, at: position, &transaction)
            new.candidates = record.candidates.filter { !$0.value.isEmpty }
            records[record.id] = new
            var contest = SharedProject.Contest(record.contested)
            // What is out of use needs a decision only if somebody without the right removed it.
            if !record.isInUse { contest.formIntersection(.late) }
            if isUnreadable { contest.insert(.unreadable) }
            if !contest.isEmpty {
                contested.append(
                    SharedProject.ContestedVariable(variable: new.variable, contest: contest))
            }
            if record.isInUse, !record.offers.isEmpty { offered.append(new.variable) }
            if let arrival = arrival(
                record, old, before: place == nil ? nil : before,
                after: transaction.index.variables[position], contest, shared)
            {
                arrivals.append(arrival)
            }
        }
        known.records = records.values.sorted { $0.id < $1.id }
        known.candidates = state.candidates.filter { !$0.value.isEmpty }
        known.heads = state.heads
        known.lateCount = UInt32(clamping: state.late.count)
        known.waitingCount = UInt32(clamping: state.waiting.count)
        shared.contested = contested.sorted { $0.variable < $1.variable }
        shared.offered = offered.sorted()
        shared.proposal = state.bindings.count == 1 ? state.bindings[0] : nil
        try transaction.keep(shared.entry)
        try transaction.keep(known.entry)
        return arrivals.sorted { ($0.name, $0.scope.description) < ($1.name, $1.scope.description) }
    }

    // MARK: Parts

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
            comment: variable.attributes.comment, rotationSeconds: variable.rotationSeconds,
            isInUse: true, version: 0, candidates: [:], versions: [], choices: [], offers: [])
    }

    private func origin(of references: [ChangeReference]?) -> Origin? {
        (references ?? []).compactMap { origins[$0.change] }.max { $0.createdAt < $1.createdAt }
    }

    /// A contested name or scope stays as it is here, if that is one of those in question.
    private func setAttributes(
        _ record: RecordState, of known: inout SharedState.Record, at position: Int,
        _ transaction: inout VaultTransaction
    ) {
        var variable = transaction.index.variables[position]
        if !record.names.contains(where: { $0.utf8.elementsEqual(variable.name.utf8) }),
            let name = record.names.first
        {
            transaction.rename(at: position, to: name, time: now)
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
            let number = try value.withBytes { bytes in
                try transaction.storeAside(bytes, forVariableAt: position, at: time)
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

    private func arrival(
        _ record: RecordState, _ old: SharedState.Record?, before: Variable?, after: Variable,
        _ contest: SharedProject.Contest, _ shared: SharedProject
    ) -> Arrival? {
        let things: [Assigned] = [.value, .name, .scope, .type, .comment, .reminder]
        let newest = things.flatMap { thing in
            (record.candidates[thing] ?? []).filter {
                !(old?.candidates[thing] ?? []).contains($0)
            }
        }
        let authors = newest.compactMap { origins[$0.change]?.author }.filter { $0 != me }
        guard let author = authors.first else { return nil }
        let kind: Arrival.Kind
        if contest.contains(.unreadable) {
            kind = .unreadable
        } else if !contest.isEmpty {
            kind = .contested
        } else if !record.isInUse {
            kind = .removed
        } else if record.isOffered
            || record.offers.contains(where: { offer in
                newest.contains(offer.version)
            })
        {
            kind = .offered
        } else {
            kind = before?.isLive == true ? .changed : .added
        }
        return Arrival(
            kind: kind, name: after.name, scope: after.attributes.scope, author: author)
    }
}
