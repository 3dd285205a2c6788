/// What a command is about to do, which determines what the checkpoint must cover;
/// docs/vault-format.md section 5.10.
package enum CheckpointUse {
    /// Passing a value to a program, a file, a screen or another record.
    package struct Values {
        /// How the project was identified.
        package enum Naming: Sendable {
            case name
            /// By its ids on Vercel.
            case binding
            /// By an approved directory with this path.
            case directory(String)
        }

        let project: Identifier
        let naming: Naming
        let positions: [Int]
        let isWanted: (String, Scope) -> Bool

        /// - Parameters:
        ///   - positions: The indices of the records whose current values are used.
        ///   - isWanted: Whether a record with this name and scope would have been used too: if one
        ///     was accepted and no longer exists, that is a difference.
        package init(
            of project: Identifier, found naming: Naming, at positions: [Int],
            isWanted: @escaping (String, Scope) -> Bool
        ) {
            (self.project, self.naming) = (project, naming)
            (self.positions, self.isWanted) = (positions, isWanted)
        }
    }

    case values(Values)
    /// Using versions identified by their numbers.
    case versions([StoredVersion], of: Identifier, found: Values.Naming)
    /// Sending a value, or changing a variable on Vercel.
    case sending(project: Identifier, records: Set<Identifier>, account: String?)
    /// The same for several projects.
    case sendingTo(projects: [Identifier], records: Set<Identifier>)
    /// Replacing records by what a group says.
    case accepting(records: Set<Identifier>)
    /// Sending a token, possibly for a project.
    case token(account: String, project: Identifier?)
    /// Sending the token of a relay.
    case relay(Identifier)
}

extension VaultIndex {
    /// Returns the objects that a use depends on and that were not accepted in their current state;
    /// usually none.
    ///
    /// The index must include a checkpoint whose MAC was verified, and be decoded completely for
    /// sending or a relay.
    package func objectsNotAccepted(for use: CheckpointUse) -> Set<CoveredObject> {
        precondition(extent.hasCheckpoint)
        var found: Set<CoveredObject> = []
        switch use {
        case .values(let values):
            checkProject(values.project, values.naming, &found)
            checkSettings(&found)
            checkRecords(values, &found)
        case .versions(let versions, let project, let naming):
            checkProject(project, naming, &found)
            for version in versions where !isNamed(version) {
                found.insert(.variable(version.variable))
            }
        case .sending(let project, let records, let account):
            if let account { checkAccount(account, &found) }
            checkSending([project], records, &found)
        case .sendingTo(let projects, let records): checkSending(projects, records, &found)
        case .accepting(let records): checkRecords(records, &found)
        case .token(let account, let project):
            checkAccount(account, &found)
            if let project, !isSame(project, \.binding) { found.insert(.project(project)) }
        case .relay(let id):
            precondition(extent == .everything)
            check(
                secretJournal.first { $0.id == id }.map { .init(.secret($0)) },
                .journalEntry(id), &found)
        }
        return found
    }

    private func check(
        _ current: AcceptedObject?, _ object: CoveredObject, _ found: inout Set<CoveredObject>
    ) {
        let entry = checkpoint.entries.content(of: object)
        if let current, let entry, entry.elementsEqual(current.content) { return }
        if current != nil || entry != nil { found.insert(object) }
    }

    private func checkSending(
        _ sent: [Identifier], _ records: Set<Identifier>, _ found: inout Set<CoveredObject>
    ) {
        precondition(extent == .everything)
        checkSettings(&found)
        for project in sent {
            check(projects.first { $0.id == project }.map { .init($0) }, .project(project), &found)
            checkSends(of: project, &found)
        }
        checkRecords(records, &found)
    }

    private func checkRecords(_ records: Set<Identifier>, _ found: inout Set<CoveredObject>) {
        let versions = versions(of: records)
        let kept = Dictionary(
            uniqueKeysWithValues: variables.lazy.filter { records.contains($0.id) }
                .map { ($0.id, $0) })
        for id in records {
            let record = kept[id].map {
                acceptable($0, (versions[id] ?? []).map(\.name))
            }
            check(record.map { .variable($0) }, .variable(id), &found)
        }
    }

    /// Settings decide what a command requires before values leave.
    private func checkSettings(_ found: inout Set<CoveredObject>) {
        for setting in metadata.settings {
            check(.setting(setting), .setting(setting.name), &found)
        }
        let names = Set(metadata.settings.map(\.name))
        for place in checkpoint.entries.settings {
            let object = checkpoint.entries.object(at: place)
            if !names.contains(object.name) { found.insert(object) }
        }
    }

    private func checkAccount(_ name: String, _ found: inout Set<CoveredObject>) {
        check(accounts.first { $0.name == name }.map { .init($0) }, .account(name), &found)
    }

    private func checkSends(of project: Identifier, _ found: inout Set<CoveredObject>) {
        for entry in journal {
            guard let send = try? SendEntry(entry), send.project == project else { continue }
            check(.init(.open(entry)), .journalEntry(entry.id), &found)
        }
    }

    private func isSame<T: Equatable>(
        _ project: Identifier, _ part: (AcceptedObject.ProjectEntry) -> T
    ) -> Bool {
        guard case .project(let accepted) = checkpoint.entries.accepted(.project(project)),
            let now = projects.first(where: { $0.id == project }),
            case .project(let current) = AcceptedObject(now)
        else { return false }
        return part(accepted) == part(current)
    }

    private func checkProject(
        _ project: Identifier, _ naming: CheckpointUse.Values.Naming,
        _ found: inout Set<CoveredObject>
    ) {
        switch naming {
        case .name:
            if !isSame(project, { Array($0.name.utf8) }) { found.insert(.project(project)) }
        case .binding:
            if !isSame(project, \.binding) { found.insert(.project(project)) }
        case .directory(let path):
            check(
                metadata.approvedDirectories.first { $0.path == path }.map { .directory($0) },
                .directory(path), &found)
        }
    }

    /// Returns a record with the entry's highest number if that is lower, which is no difference.
    private func acceptable(_ variable: Variable, _ versions: [VersionName]) -> AcceptedRecord {
        var record = AcceptedRecord(of: variable, versions: versions)
        let accepted = checkpoint.entries.record(variable.id)?.highestVersion
        record.highestVersion = min(record.highestVersion, accepted ?? .max)
        return record
    }

    /// Returns whether a version may be disclosed by its number: it is an accepted version of a
    /// record that has the accepted project, name and scope.
    private func isNamed(_ version: StoredVersion) -> Bool {
        guard let variable = variables.first(where: { $0.id == version.variable }),
            let place = checkpoint.entries.place(ofRecord: variable.id)
        else { return false }
        return accepts(place, variable, version, isCurrent: false)
    }

    private func accepts(
        _ place: Int, _ variable: Variable, _ version: StoredVersion?, isCurrent: Bool
    ) -> Bool {
        (try? checkpoint.entries.read(place) { (reader) throws(VaultError) in
            try AcceptedRecord.accepts(&reader, variable, version, isCurrent: isCurrent)
        }) ?? false
    }

    /// Walks the entries of variables in parallel with the variables, which have the same order.
    private func checkRecords(
        _ use: CheckpointUse.Values, _ found: inout Set<CoveredObject>
    ) {
        let entries = checkpoint.entries
        var used = use.positions.sorted { variables[$0].id < variables[$1].id }[...]
        func take(below id: Identifier?) {
            while let position = used.first, id.map({ variables[position].id < $0 }) ?? true {
                found.insert(.variable(variables[position].id))
                used.removeFirst()
            }
        }
        for place in entries.records {
            let id = entries.recordID(at: place)
            take(below: id)
            if let position = used.first, variables[position].id == id {
                used.removeFirst()
                let version = currentVersions.place(of: id, guess: position)
                    .map { currentVersions.values[$0] }
                if !accepts(place, variables[position], version, isCurrent: true) {
                    found.insert(.variable(id))
                }
            } else if entries.project(at: place) == use.project,
                isMissing(at: place, use.isWanted)
            {
                found.insert(.variable(id))
            }
        }
        take(below: nil)
    }

    /// Returns whether an accepted record that a use would include no longer exists in that state.
    private func isMissing(at place: Int, _ isWanted: (String, Scope) -> Bool) -> Bool {
        guard case .variable(let accepted) = checkpoint.entries.accepted(at: place),
            accepted.isLive, isWanted(accepted.name, accepted.scope)
        else { return false }
        guard let now = variables.first(where: { $0.id == accepted.id }) else { return true }
        return now.project != accepted.project || !now.isLive || now.name != accepted.name
            || now.attributes.scope != accepted.scope
    }
}
