/// What was changed since somebody with the root last accepted the variables. Pure.
package struct CheckpointComparison: Equatable, Sendable {
    /// What can differ of a variable that was there and is there.
    package enum Field: String, CaseIterable, Sendable {
        case project, name, version, type, targets, environments, branch
        case remoteID = "remoteId"
        case account
    }

    /// What happened to one variable.
    package enum Kind: Equatable, Sendable {
        /// It was not accepted yet.
        case added
        /// It was taken out of use, or is gone.
        case removed
        /// These fields differ, in the order of ``Field``.
        case changed([Field])
    }

    /// One variable that differs.
    package struct Change: Equatable, Sendable {
        /// The variable's record.
        package let variable: Identifier
        let accepted: Checkpoint.Entry?
        let current: Checkpoint.Entry?

        private var shown: Checkpoint.Entry? { current ?? accepted }
        /// The project that it belongs to now, or did before it was removed.
        package var project: Identifier { shown?.project ?? variable }
        /// Its name now, or before it was removed.
        package var name: String { shown?.name ?? "" }
        /// Its scope now, or before it was removed.
        package var scope: Scope { shown?.scope ?? Scope(targets: []) }

        /// What happened to it.
        package var kind: Kind {
            guard let accepted else { return .added }
            guard let current else { return .removed }
            return .changed(Field.allCases.filter { current.differs(from: accepted, in: $0) })
        }
    }

    /// In the order of names, then scopes.
    package private(set) var changes: [Change]

    /// Tells whether nothing was changed.
    package var isEmpty: Bool { changes.isEmpty }

    /// Compares the variables of an index with its checkpoint.
    ///
    /// - Parameter index: Decoded with the checkpoint, and unchanged since.
    package init(of index: VaultIndex) {
        precondition(index.extent.hasCheckpoint)
        var accepted = Dictionary(
            uniqueKeysWithValues: (index.checkpoint?.entries ?? []).map { ($0.variable, $0) })
        var found: [Change] = []
        for variable in index.variables where variable.isLive {
            let current = Checkpoint.Entry(of: variable)
            let entry = accepted.removeValue(forKey: variable.id)
            if entry != current {
                found.append(Change(variable: variable.id, accepted: entry, current: current))
            }
        }
        found += accepted.values.map {
            Change(variable: $0.variable, accepted: $0, current: nil)
        }
        changes = found.map { ($0, $0.scope.description) }.sorted { left, right in
            (left.0.name, left.1, left.0.variable) < (right.0.name, right.1, right.0.variable)
        }.map(\.0)
    }

    /// The changes of some variables alone.
    package func limited(to variables: Set<Identifier>) -> CheckpointComparison {
        var limited = self
        limited.changes.removeAll { !variables.contains($0.variable) }
        return limited
    }
}

extension Checkpoint.Entry {
    fileprivate func differs(
        from other: Checkpoint.Entry, in field: CheckpointComparison.Field
    ) -> Bool {
        switch field {
        case .project: project != other.project
        case .name: name != other.name
        case .version: currentVersion != other.currentVersion
        case .type: kind != other.kind
        case .targets: scope.targets != other.scope.targets
        case .environments: scope.customEnvironments != other.scope.customEnvironments
        case .branch: scope.branch != other.scope.branch
        case .remoteID: remoteID != other.remoteID
        case .account: account != other.account
        }
    }
}
