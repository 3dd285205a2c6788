internal import Groups
internal import Sealing
package import Vault

/// Turns what a write changed in shared projects into signed changes for their groups, and stores
/// these in the same write. So a change that the vault holds is never lost to the group, and the other
/// way round.
package struct ChangeRecorder {
    private let vault: Identifier
    private let keys: VaultKeys
    private let now: UInt64
    private let memory: any ChainMemory
    private let news: GroupNews

    /// - Parameters:
    ///   - vault: The vault's id.
    ///   - now: Milliseconds since 1970.
    ///   - news: What the write reports besides what it changes.
    package init(
        vault: Identifier, keys: VaultKeys, now: UInt64, memory: any ChainMemory, news: GroupNews
    ) {
        (self.vault, self.keys, self.now) = (vault, keys, now)
        (self.memory, self.news) = (memory, news)
    }

    /// Records all shared projects.
    ///
    /// - Returns: The number of new changes.
    /// - Throws: ``SharingError`` if this member may not do what was done; then nothing may be
    ///   written.
    @discardableResult
    package func record(in transaction: inout VaultTransaction) throws -> Int {
        var count = 0
        for entry in transaction.index.groupEntries(.sharedProject) {
            let shared = try SharedProject(entry)
            guard
                let membership = try GroupMembership.of(shared.group, in: transaction.index),
                let stored = transaction.index.journal.first(where: { $0.id == membership.id }),
                let known = try SharedState.of(
                    shared.compartment, shared.group, in: transaction.index)
            else {
                throw VaultError(damaged: .layout, "a shared project belongs to no group")
            }
            // Who was removed keeps the project, for this vault alone.
            guard membership.standing == .active else { continue }
            count += try record(shared, known, membership, stored, in: &transaction)
        }
        return count
    }

    /// - Throws: ``SharingError/Code/notAllowed`` for a reader, and for a writer who does more than
    ///   add variables and values.
    private static func checkRole(
        of membership: GroupMembership, changing project: String, onlyAdds: Bool
    ) throws(SharingError) {
        switch membership.rights.role {
        case .admin, .member: return
        case .reader:
            throw SharingError(
                .notAllowed,
                "You may only read \(project), which is shared with \(membership.name).")
        case .writer:
            guard !onlyAdds else { return }
            throw SharingError(
                .notAllowed,
                "You may only add variables and values to \(project), which is shared with "
                    + "\(membership.name).")
        }
    }

    private func record(
        _ shared: SharedProject, _ known: SharedState, _ membership: GroupMembership,
        _ stored: JournalEntry, in transaction: inout VaultTransaction
    ) throws -> Int {
        let variables = transaction.recordedVariables(of: shared.project)
        let mayClaim = [.admin, .member].contains(membership.rights.role)
        let rotating = try transaction.index.rotations().filter(\.isOpen)
            .flatMap(\.plan.members).flatMap(\.records).map(\.variable)
        let difference = SharedDifference(
            from: known, to: variables, decided: news.decided,
            claims: mayClaim ? news.claims : [], rotating: mayClaim ? Set(rotating) : [],
            takenOver: news.takenOver)
        let project = transaction.index.project(shared.project)
        let before = shared.recordedBinding
        var shared = shared
        let announcements =
            Self.announcements(known, project, &shared, membership.rights.role)
            + (news.settlements[shared.compartment] ?? []).map {
                RecordOperation(record: nil, .settle($0))
            }
        if difference.steps.isEmpty && announcements.isEmpty {
            if shared.recordedBinding != before { try transaction.keep(shared.entry) }
            return 0
        }
        if !difference.steps.isEmpty {
            try Self.checkRole(
                of: membership, changing: project?.name ?? "",
                onlyAdds: difference.steps.allSatisfy(\.action.isForWriters))
        }
        let secrets = try MemberSecrets(stored, vault: vault, with: keys)
        guard let epoch = secrets.epoch(of: shared.compartment) else {
            throw SharingError(
                .noKeys,
                "The keys of \(project?.name ?? "the project") in \(membership.name) are not in this vault."
            )
        }
        var state = known
        try begin(&state)
        var writer = ChangeWriter(
            membership: membership, epoch: epoch, secrets: secrets, now: now, state: state,
            notices: Set(shared.notices.map(\.reference)),
            contestedScopes: Set(
                shared.contested.filter { $0.contest.contains(.scope) }.map(\.variable)))
        let byID = Dictionary(uniqueKeysWithValues: variables.map { ($0.id, $0) })
        for operation in announcements { writer.add(operation) }
        let arena = SecretArena()
        for step in difference.steps {
            let value: SecretSlice?
            if case .store(let number) = step.action {
                value = try transaction.recordedValue(of: step.variable, version: number, in: arena)
                // A version that the vault does not have.
                if value == nil { continue }
            } else {
                value = nil
            }
            writer.add(step, byID[step.variable], value)
            if writer.isFull { try writer.finish() }
        }
        try writer.finish()
        for object in writer.objects {
            try transaction.keep(
                OutgoingChange(group: shared.group, object: object, createdAt: now).entry)
        }
        try memory.keep(
            ChainPosition(chain: writer.state.chain, counter: writer.state.counter),
            in: shared.compartment)
        try transaction.keep(writer.state.entry)
        try settle(writer.decided, byID, in: shared, &transaction)
        return writer.objects.count
    }

    /// Continues the chain, or begins a new one if this vault is not the newest copy.
    private func begin(_ state: inout SharedState) throws {
        let position = ChainPosition(chain: state.chain, counter: state.counter)
        guard state.counter > 0, memory.position(in: state.compartment) != position else { return }
        (state.chain, state.counter, state.last) = (.random(), 0, .zero)
    }

    /// What a change says about the project itself: the first one its name, and each one after the user
    /// bound it elsewhere that binding, as a proposal.
    private static func announcements(
        _ state: SharedState, _ project: VaultProject?, _ shared: inout SharedProject,
        _ role: GroupRole
    ) -> [RecordOperation] {
        // Writers and readers say nothing about a project.
        guard let project, role == .admin || role == .member else { return [] }
        var found: [RecordOperation] = []
        if (state.candidates[.projectName] ?? []).isEmpty, state.heads.isEmpty, state.counter == 0 {
            found.append(RecordOperation(record: nil, .projectName(project.name)))
        }
        let binding = project.binding.map {
            GroupBinding(
                origin: $0.origin, team: $0.teamID, project: $0.projectID, name: $0.projectName)
        }
        guard binding != shared.recordedBinding else { return found }
        shared.recordedBinding = binding
        if let binding, binding != shared.proposal {
            shared.proposal = binding
            found.append(
                RecordOperation(
                    record: nil, replaces: (state.candidates[.binding] ?? []).sorted(),
                    .binding(binding)))
        }
        return found
    }

    /// Whether another variable has the name in a part of the scope.
    private static func hasTwin(
        _ id: Identifier, in variables: [Identifier: RecordedVariable]
    ) -> Bool {
        guard let variable = variables[id], variable.isLive else { return false }
        return variables.values.contains {
            $0.id != id && $0.isLive && $0.name.utf8.elementsEqual(variable.name.utf8)
                && $0.scope.overlaps(variable.scope)
        }
    }

    /// A new assignment of a thing ends the dispute about it and is the user's own, and a new value
    /// answers an offer.
    private func settle(
        _ decided: [Identifier: Set<Assigned>], _ variables: [Identifier: RecordedVariable],
        in shared: SharedProject, _ transaction: inout VaultTransaction
    ) throws {
        var shared = shared
        shared.offered.removeAll { decided[$0]?.contains(.value) == true }
        shared.notices.removeAll { news.takenOver.contains($0.variable) }
        for place in shared.held.indices {
            let id = shared.held[place].variable
            guard let things = decided[id], let variable = variables[id] else { continue }
            shared.held[place].accept(things, of: variable)
        }
        shared.contested = shared.contested.compactMap { item in
            var contest = item.contest
            for thing in decided[item.variable] ?? [] {
                switch thing {
                case .value: contest.subtract([.value, .unreadable])
                case .name: contest.subtract(.name)
                case .scope: contest.subtract(.scope)
                default: break
                }
            }
            if !(decided[item.variable] ?? []).isDisjoint(with: [.name, .scope]),
                !Self.hasTwin(item.variable, in: variables)
            {
                contest.subtract(.twin)
            }
            return contest.isEmpty
                ? nil : SharedProject.ContestedVariable(variable: item.variable, contest: contest)
        }
        try transaction.keep(shared.entry)
    }
}
