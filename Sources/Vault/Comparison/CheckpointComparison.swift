/// What is new since somebody with the root last accepted what decides where values go. Pure.
package struct CheckpointComparison: Equatable, Sendable {
    /// What can differ of an object that was there and is there.
    package enum Field: String, CaseIterable, Sendable {
        case project, name, version, versions, type, targets, environments, branch
        case remoteID = "remoteId"
        case account, rotation, inUse, highest
        case binding, origin, user
        case team = "teamId"
        case token
        case isDefault = "default"
        case protection, directory, work
    }

    /// What happened to one object.
    package enum Kind: Equatable, Sendable {
        /// It was not accepted yet.
        case added
        /// It was taken out of use, or is gone.
        case removed
        /// These fields differ, in the order of ``Field``.
        case changed([Field])
    }

    /// One object that differs.
    package struct Change: Equatable, Sendable {
        /// What differs.
        package let object: CoveredObject
        /// As it was accepted; nil where it was not.
        package let accepted: AcceptedObject?
        /// As it is; nil where it is gone.
        package let current: AcceptedObject?

        /// What its entry would be.
        var currentContent: [UInt8]? { current?.content }

        private var shown: AcceptedRecord? {
            guard case .variable(let record) = current ?? accepted else { return nil }
            return record
        }
        /// Of a record: the project that it belongs to now, or did before it was removed.
        package var project: Identifier? {
            if case .project = object.kind { return object.id }
            return shown?.project
        }
        /// Its name now, or before it was removed; the path of a directory.
        package var name: String {
            switch current ?? accepted {
            case .project(let project): project.name
            case .variable(let record): record.name
            case .account, .directory: object.name
            case .journalEntry, nil: object.id.hexadecimal
            }
        }
        /// Of a record: its scope now, or before it was removed.
        package var scope: Scope? { shown?.scope }

        /// Versions of the record that are there and nobody accepted.
        package var newVersionCount: Int {
            guard case .variable(let now) = current else { return 0 }
            guard case .variable(let before) = accepted else { return now.versions.count }
            return Set(now.versions).subtracting(before.versions).count
        }

        /// What happened to it.
        package var kind: Kind {
            guard let accepted else { return .added }
            guard let current else { return .removed }
            if case .variable(let before) = accepted, case .variable(let now) = current,
                before.isLive, !now.isLive
            {
                return .removed
            }
            let fields = current.fields(differingFrom: accepted)
            return .changed(Field.allCases.filter { fields.contains($0) })
        }
    }

    /// Objects that decide on everything first, then records in the order of names and scopes.
    package private(set) var changes: [Change]

    /// Tells whether nothing was changed.
    package var isEmpty: Bool { changes.isEmpty }

    /// Compares all that is covered with the checkpoint.
    ///
    /// - Parameter index: Decoded as a whole.
    package init(of index: VaultIndex) {
        precondition(index.extent == .everything)
        let entries = index.checkpoint.entries
        var found: [Change] = []
        var there: Set<CoveredObject> = []
        func compare(_ current: AcceptedObject) {
            let object = current.object
            there.insert(object)
            let entry = entries.content(of: object)
            if let entry, entry.elementsEqual(current.content) { return }
            found.append(
                Change(object: object, accepted: entries.accepted(object), current: current))
        }
        for project in index.projects { compare(.init(project)) }
        for account in index.accounts { compare(.init(account)) }
        for directory in index.metadata.approvedDirectories { compare(.directory(directory)) }
        for entry in index.allJournalEntries { compare(.init(entry)) }
        let versions = index.versions()
        for place in index.variables.indices {
            let id = index.variables[place].id
            let entry = entries.place(ofRecord: id, guess: place).map(entries.accepted(at:))
            var record = AcceptedRecord(
                of: index.variables[place], versions: (versions[id] ?? []).map(\.name))
            there.insert(.variable(id))
            // Numbers that were only given out are no difference: a restored vault goes on behind them.
            if case .variable(let accepted) = entry,
                record.highestVersion > accepted.highestVersion
            {
                let highest = record.highestVersion
                record.highestVersion = accepted.highestVersion
                if record.content == accepted.content { continue }
                record.highestVersion = highest
            } else if let entry, entry.content == record.content {
                continue
            }
            found.append(
                Change(object: .variable(id), accepted: entry, current: .variable(record)))
        }
        for place in 0..<entries.count {
            let object = entries.object(at: place)
            if there.contains(object) { continue }
            found.append(
                Change(object: object, accepted: entries.accepted(at: place), current: nil))
        }
        changes = found.map { ($0, $0.scope?.description ?? "") }.sorted { left, right in
            let (a, b) = (left.0, right.0)
            let isRecord = (a.object.kind == .variable, b.object.kind == .variable)
            if isRecord.0 != isRecord.1 { return isRecord.1 }
            if !isRecord.0, a.object.kind != b.object.kind { return a.object < b.object }
            return (a.name, left.1, a.object) < (b.name, right.1, b.object)
        }.map(\.0)
    }

    /// The changes of some objects alone.
    package func limited(to objects: Set<CoveredObject>) -> CheckpointComparison {
        var limited = self
        limited.changes.removeAll { !objects.contains($0.object) }
        return limited
    }
}

extension AcceptedObject {
    /// What differs of two forms of one object.
    fileprivate func fields(
        differingFrom other: AcceptedObject
    ) -> Set<CheckpointComparison.Field> {
        var fields: Set<CheckpointComparison.Field> = []
        func compare<T: Equatable>(_ left: T, _ right: T, _ field: CheckpointComparison.Field) {
            if left != right { fields.insert(field) }
        }
        switch (other, self) {
        case (.project(let old), .project(let new)):
            compare(Array(old.name.utf8), Array(new.name.utf8), .name)
            compare(old.binding, new.binding, .binding)
        case (.variable(let old), .variable(let new)):
            compare(old.project, new.project, .project)
            compare(Array(old.name.utf8), Array(new.name.utf8), .name)
            compare(old.currentVersion, new.currentVersion, .version)
            compare(old.versions, new.versions, .versions)
            compare(old.kind, new.kind, .type)
            compare(old.scope.targets, new.scope.targets, .targets)
            compare(old.scope.customEnvironments, new.scope.customEnvironments, .environments)
            compare(old.scope.branch, new.scope.branch, .branch)
            compare(old.remote?.id, new.remote?.id, .remoteID)
            compare(old.remote?.account, new.remote?.account, .account)
            compare(old.rotationSeconds, new.rotationSeconds, .rotation)
            compare(old.isLive, new.isLive, .inUse)
            if new.highestVersion < old.highestVersion { fields.insert(.highest) }
        case (.account(let old), .account(let new)):
            compare(old.origin, new.origin, .origin)
            compare([old.userID, old.username], [new.userID, new.username], .user)
            compare([old.teamID, old.teamSlug], [new.teamID, new.teamSlug], .team)
            compare(old.isDefault, new.isDefault, .isDefault)
            compare(old.protection, new.protection, .protection)
            compare(old.digest, new.digest, .token)
        case (.directory, .directory): fields.insert(.directory)
        default: fields.insert(.work)
        }
        return fields
    }
}
