/// The differences from what was last accepted with the root. Pure data.
package struct CheckpointComparison: Equatable, Sendable {
    /// What can differ in an object that still exists.
    package enum Field: String, CaseIterable, Sendable {
        case project, name, version, versions, type, targets, environments, branch
        case remoteID = "remoteId"
        case account, rotation, inUse, highest
        case binding, origin, user
        case team = "teamId"
        case token
        case isDefault = "default"
        case protection, directory, work, setting
    }

    /// How an object differs.
    package enum Kind: Equatable, Sendable {
        /// Not accepted yet.
        case added
        /// Taken out of use, or gone.
        case removed
        /// These fields differ, in the order of ``Field``.
        case changed([Field])
    }

    /// A difference in one object.
    package struct Change: Equatable, Sendable {
        package let object: CoveredObject
        /// The accepted state; nil if it was not accepted.
        package let accepted: AcceptedObject?
        /// The current state; nil if it is gone.
        package let current: AcceptedObject?

        /// The content for a new entry.
        var currentContent: [UInt8]? { current?.content }

        private var shown: AcceptedRecord? {
            guard case .variable(let record) = current ?? accepted else { return nil }
            return record
        }
        /// The project itself, or the project of a variable now or before its removal.
        package var project: Identifier? {
            if case .project = object.kind { return object.id }
            return shown?.project
        }
        /// The name now, or before the removal; for a directory, its path.
        package var name: String {
            switch current ?? accepted {
            case .project(let project): project.name
            case .variable(let record): record.name
            case .account, .directory, .setting: object.name
            case .journalEntry, nil: object.id.hexadecimal
            }
        }
        /// The scope of a variable now, or before its removal.
        package var scope: Scope? { shown?.scope }

        /// The number of a variable's versions that were not accepted.
        package var newVersionCount: Int {
            guard case .variable(let now) = current else { return 0 }
            guard case .variable(let before) = accepted else { return now.versions.count }
            return Set(now.versions).subtracting(before.versions).count
        }

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

    /// Objects of project-wide effect first, then variables sorted by name and scope.
    package private(set) var changes: [Change]

    package var isEmpty: Bool { changes.isEmpty }

    /// Compares everything that the checkpoint covers with it.
    ///
    /// - Parameter index: Must be decoded completely.
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
        for setting in index.metadata.settings { compare(.setting(setting)) }
        let versions = index.versions()
        for place in index.variables.indices {
            let id = index.variables[place].id
            let entry = entries.place(ofRecord: id, guess: place).map(entries.accepted(at:))
            var record = AcceptedRecord(
                of: index.variables[place], versions: (versions[id] ?? []).map(\.name))
            there.insert(.variable(id))
            // Numbers that were only assigned are no difference: a restored vault continues after
            // them.
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

    /// Returns only the changes of some objects.
    package func limited(to objects: Set<CoveredObject>) -> CheckpointComparison {
        var limited = self
        limited.changes.removeAll { !objects.contains($0.object) }
        return limited
    }
}

extension AcceptedObject {
    /// Returns the fields that differ between two states of an object.
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
        case (.setting, .setting): fields.insert(.setting)
        default: fields.insert(.work)
        }
        return fields
    }
}
