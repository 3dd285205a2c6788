package import Groups
package import Vault

/// Brings a vault to what the objects of one group say, in one write.
package struct GroupUpdate {
    private let view: GroupView
    private let published: Set<GroupHash>
    private let vault: Identifier
    private let keys: VaultKeys
    private let now: UInt64
    private let shared: (compartment: Identifier, project: Identifier)?
    private let affectsPrograms: (String) -> Bool

    /// - Parameters:
    ///   - published: The changes that the place was seen to hold.
    ///   - now: Milliseconds since 1970.
    ///   - affectsPrograms: Whether a variable of this name changes what programs run or read.
    ///   - shared: A compartment that was made for a project of this vault.
    package init(
        _ view: GroupView, published: Set<GroupHash>, vault: Identifier, keys: VaultKeys,
        now: UInt64, affectsPrograms: @escaping (String) -> Bool,
        sharing shared: (compartment: Identifier, project: Identifier)? = nil
    ) {
        self.affectsPrograms = affectsPrograms
        (self.view, self.published) = (view, published)
        (self.vault, self.keys, self.now) = (vault, keys, now)
        self.shared = shared
    }

    /// Checks that the objects continue what this vault accepted before.
    ///
    /// - Throws: ``SharingError/Code/otherHistory``.
    package func check(_ membership: GroupMembership) throws {
        for head in membership.heads where view.chain.link(head) == nil {
            throw SharingError(
                .otherHistory,
                "The place of \(membership.name) no longer has a membership entry that this "
                    + "vault has seen.")
        }
    }

    /// Applies everything to a transaction with the root.
    package func apply(
        to transaction: inout VaultTransaction, _ id: Identifier
    ) throws -> Outcome {
        let stored = try transaction.index.membershipEntry(id)
        var membership = try GroupMembership(stored)
        try check(membership)
        var outcome = Outcome()
        outcome.refused = Set(view.refused.keys)
        outcome.isForked = view.chain.isForked
        note(&membership, &outcome)
        outcome.standing = membership.standing
        let secrets = try MemberSecrets(stored, vault: vault, with: keys)
        if membership.standing == .active {
            try view.keepCurrentKeys(in: secrets)
            for compartment in view.compartments {
                if let project = try apply(compartment, &membership, to: &transaction) {
                    outcome.projects.append(project)
                }
            }
        }
        outcome.publishedCount = try removePublished(of: membership.group, &transaction)
        outcome.waitingCount = try OutgoingChange.all(
            of: membership.group, in: transaction.index
        ).count
        // A sync without news leaves the vault as it is: sealing again would change it.
        let before = try stored.sealedSection().rest
        let hasNews =
            secrets.isChanged || outcome.publishedCount > 0
            || outcome.projects.contains {
                $0.isNew || !$0.arrivals.isEmpty || $0.newProposal != nil
            }
            || membership.content != before
        if hasNews {
            membership.syncedAt = now
            try transaction.keep(
                membership.entry(
                    sealed: try secrets.sealed(for: membership.id, vault: vault, with: keys)))
        }
        return outcome
    }

    private func note(_ membership: inout GroupMembership, _ outcome: inout Outcome) {
        let before = Set(membership.people.filter(\.isActive).map(\.member))
        let people = view.people
        let after = Set(people.filter(\.isActive).map(\.member))
        func names(_ ids: Set<Identifier>) -> [String] {
            Set(people.filter { ids.contains($0.member) }.map(\.name)).sorted()
        }
        if !membership.people.isEmpty {
            outcome.joined = names(after.subtracting(before).subtracting([membership.member]))
        }
        outcome.removed = people.filter {
            before.contains($0.member) && !after.contains($0.member)
                && $0.member != membership.member
        }.compactMap { person in
            person.removal.map { Outcome.Departure(member: person.member, author: $0.author) }
        }
        membership.people = people
        membership.heads = view.chain.heads
        if let newest = view.newest { membership.newest = newest }
        if let rights = view.rights {
            (membership.standing, membership.rights) = (.active, rights)
        } else if view.wasAdmitted, !view.chain.isForked {
            membership.standing = .ended
        }
        if membership.standing == .invited {
            let states = view.chain.headStates
            if states.contains(where: { $0.usedInvites.contains(membership.invite) }) {
                outcome.invite = .usedByOther
            } else if states.contains(where: { $0.voidInvites.contains(membership.invite) }) {
                outcome.invite = .void
            }
        }
    }

    private func apply(
        _ compartment: Identifier, _ membership: inout GroupMembership,
        to transaction: inout VaultTransaction
    ) throws -> Outcome.Project? {
        let state = view.state(of: compartment)
        let found = try SharedProject.all(of: membership.group, in: transaction.index).first {
            $0.compartment == compartment
        }
        let detached = membership.detached.first { $0.compartment == compartment }
        // It was removed here: only `group adopt` brings it back.
        if found == nil, let detached, detached.project == nil { return nil }
        let attached =
            try found == nil ? detached.flatMap { try attach($0, membership, transaction) } : nil
        var known =
            try SharedState.of(compartment, membership.group, in: transaction.index)
            ?? SharedState(compartment: compartment, group: membership.group, createdAt: now)
        let missing = known.heads.filter { !view.has($0, in: compartment) }
        guard missing.isEmpty else {
            let count = missing.count == 1 ? "a change" : "\(missing.count) changes"
            throw SharingError(
                .otherHistory,
                "The place of \(membership.name) no longer has \(count) that this vault has seen. "
                    + "Ask a colleague to run zg-env sync, then retry.")
        }
        guard
            var shared = found ?? attached
                ?? newProject(compartment, state, membership, in: &transaction)
        else { return nil }
        membership.detached.removeAll { $0.compartment == compartment }
        let ownLate = state.late.keys.filter {
            view.author(of: $0, in: compartment) == membership.member
        }
        let toldBefore = Set(known.ownLate)
        known.ownLate = ownLate.sorted()
        var application = StateApplication(
            state, origins: view.origins(in: compartment), me: membership.member, now: now,
            members: Set(membership.people.filter(\.isActive).map(\.member)),
            writers: Set(membership.people.filter { $0.role == .writer }.map(\.member)),
            attaches: attached != nil, affectsPrograms: affectsPrograms,
            claim: { [view] in view.claim($0, in: compartment) }
        ) { [view] reference, arena in
            try view.value(of: reference, in: arena)
        }
        let proposal = shared.proposal
        let lateBefore = Int(known.lateCount)
        let arrivals = try application.apply(to: &transaction, &shared, &known)
        let own = transaction.index.project(shared.project)?.binding
        let isNews =
            shared.isAdopted && shared.proposal != proposal
            && (shared.proposal?.project != own?.projectID
                || shared.proposal?.origin != own?.origin)
        return Outcome.Project(
            name: transaction.index.project(shared.project)?.name ?? "",
            isNew: found == nil && attached == nil,
            arrivals: arrivals, lateCount: state.late.count,
            newLateCount: max(0, state.late.count - lateBefore),
            waitingCount: state.waiting.count, contestedCount: shared.contested.count,
            heldCount: shared.changesToAccept(in: transaction.index).count,
            newProposal: isNews ? shared.proposal : nil,
            lateValues: found == nil
                ? [] : lateValues(application.newValues, compartment, known, transaction),
            ownLate: known.ownLate.filter { !toldBefore.contains($0) }.map { name in
                Outcome.LateChange(
                    createdAt: view.origins(in: compartment)[name]?.createdAt ?? 0,
                    reason: state.late[name] ?? .member,
                    names: view.variables(in: name, of: compartment, known))
            }, isAttached: attached != nil, movedAside: application.movedAside)
    }

    /// New values that somebody who was removed can read, by the names of their variables.
    private func lateValues(
        _ references: Set<ChangeReference>, _ compartment: Identifier, _ known: SharedState,
        _ transaction: borrowing VaultTransaction
    ) -> [Outcome.LateValue] {
        view.lateValues(references, in: compartment).compactMap { late in
            guard let record = known.records.first(where: { $0.id == late.record }) else {
                return nil
            }
            return Outcome.LateValue(name: record.name, author: late.author, readers: late.readers)
        }
    }

    /// The project that was shared before, if the vault still has it.
    private func attach(
        _ detached: GroupMembership.DetachedProject, _ membership: GroupMembership,
        _ transaction: borrowing VaultTransaction
    ) throws -> SharedProject? {
        guard let project = detached.project, transaction.index.project(project) != nil,
            // It may be shared with another group by now.
            try SharedProject.of(project, in: transaction.index) == nil
        else { return nil }
        return SharedProject(
            project: project, group: membership.group, compartment: detached.compartment,
            isAdopted: detached.isAdopted, createdAt: now)
    }

    /// The project of a compartment that the vault does not have yet; nil while the member who
    /// shares it has published nothing.
    private func newProject(
        _ compartment: Identifier, _ state: CompartmentState, _ membership: GroupMembership,
        in transaction: inout VaultTransaction
    ) -> SharedProject? {
        if let shared, shared.compartment == compartment {
            return SharedProject(
                project: shared.project, group: membership.group, compartment: compartment,
                isAdopted: true, createdAt: now)
        }
        guard let first = state.projectNames.first else { return nil }
        let name = transaction.index.unusedProjectName(first, suffix: "@\(membership.name)")
        let project = VaultProject(name: name, createdAt: now)
        transaction.index.projects.append(project)
        return SharedProject(
            project: project.id, group: membership.group, compartment: compartment,
            isAdopted: false, createdAt: now)
    }

    private func removePublished(
        of group: GroupHash, _ transaction: inout VaultTransaction
    ) throws -> Int {
        let done = try OutgoingChange.all(of: group, in: transaction.index).filter {
            published.contains(GroupHash(of: $0.object))
        }
        transaction.removeGroupEntries(Set(done.map(\.id)))
        return done.count
    }
}
