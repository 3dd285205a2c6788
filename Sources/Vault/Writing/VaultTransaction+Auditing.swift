extension IndexMetadata {
    /// Records the end of the audit log, unless the vault knows of a later line.
    mutating func recordAudit(_ end: AuditLog.Position) {
        if end.sequence > (audit?.sequence ?? 0) { audit = end }
    }
}

extension VaultTransaction {
    /// Sets the audit log's recorded end to `position`, discarding the earlier record: after a
    /// person with the passphrase accepted the log, or for a vault that arrived without its log
    /// (nil).
    package mutating func acceptAuditLog(endingAt position: AuditLog.Position?) {
        index.metadata.audit = position
    }

    /// Returns what this transaction changes that a user decides, for the audit log: variables by
    /// project, then everything else. What was agreed on with a platform or a group is not there.
    package func auditedChanges() -> [(project: String?, subjects: [AuditEntry.Subject])] {
        var changes: [Identifier: [AuditEntry.Subject]] = [:]
        let others = differsInOrder ? Self.byID(before.variables) { $0.id } : nil
        for (position, now) in index.variables.enumerated() {
            let old =
                others.map { $0[now.id] }
                ?? (position < before.variables.count ? before.variables[position] : nil)
            guard let subject = AuditEntry.Subject(now, before: old) else { continue }
            // A renamed variable is found by both names.
            if let old, !old.name.utf8.elementsEqual(now.name.utf8) {
                changes[now.project, default: []].append(AuditEntry.Subject(old.name))
            }
            changes[now.project, default: []].append(subject)
        }
        if let others {
            let left = Set(index.variables.map(\.id))
            for gone in before.variables where others[gone.id] != nil && !left.contains(gone.id) {
                changes[gone.project, default: []].append(AuditEntry.Subject(gone.name))
            }
        }
        // A removed project is one change.
        let left = Set(index.projects.map(\.id))
        changes = changes.filter { left.contains($0.key) }
        for variable in erasedVariables where left.contains(variable.project) {
            let isNamed = changes[variable.project]?.contains {
                $0.name.utf8.elementsEqual(variable.name.utf8)
            }
            if isNamed != true {
                changes[variable.project, default: []].append(AuditEntry.Subject(variable))
            }
        }
        let projects = Self.byID(index.projects + before.projects) { $0.id }
        return changes.map { (projects[$0.key]?.name, $0.value) }
            .sorted { ($0.0 ?? "") < ($1.0 ?? "") }
            + [(nil, otherNames(besides: Set(changes.keys)).map { .init($0) })]
            .filter { !$0.1.isEmpty }
    }

    /// The variables that lose more versions than this transaction adds.
    private var erasedVariables: [Variable] {
        guard index.earlierVersions.count < before.earlierVersions.count else { return [] }
        let left = Set(index.earlierVersions.map(\.id))
        let erased = Set(before.earlierVersions.filter { !left.contains($0.id) }.map(\.variable))
        return index.variables.filter { erased.contains($0.id) }
    }

    private static func byID<Thing>(
        _ things: [Thing], _ id: (Thing) -> Identifier
    ) -> [Identifier: Thing] {
        Dictionary(things.map { (id($0), $0) }) { first, _ in first }
    }

    /// Whether the variables of before are not the first ones of now.
    private var differsInOrder: Bool {
        index.variables.count < before.variables.count
            || !zip(index.variables, before.variables).allSatisfy { $0.id == $1.id }
    }

    /// Returns the names of projects, accounts, settings and directories that this transaction
    /// changes.
    ///
    /// - Parameter named: Projects that have a line of their own, if they are new.
    private func otherNames(besides named: Set<Identifier>) -> [String] {
        func changed<Thing: Equatable>(
            _ now: [Thing], _ old: [Thing], _ name: (Thing) -> String
        ) -> [String] {
            guard now != old else { return [] }
            return (now.filter { !old.contains($0) } + old.filter { !now.contains($0) })
                .map(name)
        }
        let names =
            changed(
                index.projects.filter { project in
                    !named.contains(project.id) || before.project(project.id) != nil
                }, before.projects
            ) { $0.name }
            + changed(
                index.accounts.map(AuditedAccount.init), before.accounts.map(AuditedAccount.init)
            ) { $0.name }
            + changed(index.metadata.settings, before.metadata.settings) { $0.name }
            + changed(
                index.metadata.approvedDirectories, before.metadata.approvedDirectories
            ) { $0.path }
        var seen: Set<[UInt8]> = []
        return names.filter { seen.insert(Array($0.utf8)).inserted }
    }
}

/// An account without its token, which a login replaces together with the time.
private struct AuditedAccount: Equatable {
    let name: String
    let userID: String
    let createdAt: UInt64
    let teamID: String?
    let isDefault: Bool

    init(_ account: Account) {
        (name, userID, createdAt) = (account.name, account.userID, account.createdAt)
        (teamID, isDefault) = (account.teamID, account.isDefault)
    }
}

extension AuditEntry.Subject {
    /// What became of a variable; nil if nothing that a user decides has changed.
    fileprivate init?(_ now: Variable, before: Variable?) {
        // What becomes of a removed record follows from a change of others.
        guard now.isLive || before?.isLive == true,
            before.map({ !$0.name.utf8.elementsEqual(now.name.utf8) }) ?? true
                || before?.attributes != now.attributes
                || before?.currentVersion != now.currentVersion
                || before?.isLive != now.isLive || before?.rotationSeconds != now.rotationSeconds
        else { return nil }
        self.init(now)
    }

    fileprivate init(_ variable: Variable) {
        self.init(
            variable.name, targets: variable.attributes.scope.description,
            version: variable.isLive ? variable.currentVersion : 0)
    }
}
