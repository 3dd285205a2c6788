internal import Sealing

/// What the index key opens: projects, variables, locations of their values, accounts. No values.
package struct VaultIndex {
    package enum Extent: Sendable {
        /// Projects, variables, accounts and metadata: enough for a listing.
        case listing
        /// The listing and the current values' locations: enough for `reveal` and `run`.
        case currentValues
        /// Everything, which writing requires.
        case everything

        var hasCurrentValues: Bool { self != .listing }
    }

    /// The decoded part. Only a whole index can be written.
    package let extent: Extent
    /// Generations, audit position, approved directories.
    package var metadata = IndexMetadata()
    /// Sorted by id.
    package var projects: [VaultProject] = []
    /// Sorted by id, including removed ones.
    package var variables: [Variable] = []
    /// The current versions by variable. Empty for ``Extent/listing``.
    package var currentVersions: CurrentVersions = [:]
    /// The earlier versions, sorted by variable, then version. Empty unless the extent is
    /// ``Extent/everything``.
    package var earlierVersions: [StoredVersion] = []
    var batches: [Batch] = []
    /// Unfinished operations and what belongs to groups, sorted by id. A part of the index has only
    /// entries of ``GroupEntryKind/sharedProject``.
    package var journal: [JournalEntry] = []
    /// The secret entries of the journal.
    var secretJournal: [SecretJournalEntry] = []
    /// Sorted by name.
    package var accounts: [Account] = []
    var formerLogKeys: [SecretSlice] = []

    init(extent: Extent) {
        self.extent = extent
    }

    package func project(named name: String) -> VaultProject? {
        projects.first { $0.name == name }
    }

    package func project(_ id: Identifier) -> VaultProject? {
        projects.first { $0.id == id }
    }

    /// Returns a project's variables in use, sorted by name, then scope.
    package func variables(of project: Identifier) -> [Variable] {
        sorted({ $0.project == project && $0.isLive }) {
            $0.attributes.scope.description < $1.attributes.scope.description
        }
    }

    /// Returns a project's removed variables, sorted by name.
    package func removedVariables(of project: Identifier) -> [Variable] {
        sorted({ $0.project == project && !$0.isLive }) { $0.id < $1.id }
    }

    /// Returns matching records sorted by name. Sorts names and indices, because moving a record is
    /// expensive in reference counts.
    private func sorted(
        _ isWanted: (Variable) -> Bool, sameName precedes: (Variable, Variable) -> Bool
    ) -> [Variable] {
        var places: [(name: SortableName, position: Int)] = []
        for position in variables.indices where isWanted(variables[position]) {
            places.append((SortableName(variables[position].name), position))
        }
        func name(_ position: Int) -> String { variables[position].name }
        places.sort { left, right in
            left.name == right.name && name(left.position) == name(right.position)
                ? precedes(variables[left.position], variables[right.position])
                : SortableName.precedes(left.name, right.name) {
                    (name(left.position), name(right.position))
                }
        }
        return places.map { variables[$0.position] }
    }

    /// Returns the records in use for one name.
    package func variables(of project: Identifier, named name: String) -> [Variable] {
        records(of: project, named: name).filter(\.isLive)
    }

    /// Returns all records of one name, including removed ones.
    package func records(of project: Identifier, named name: String) -> [Variable] {
        variables.filter { $0.project == project && $0.name == name }
    }

    /// Returns the account with that name, or the default account for nil.
    package func account(named name: String?) -> Account? {
        guard let name else { return accounts.first(where: \.isDefault) }
        return accounts.first { $0.name == name }
    }
}

extension VaultIndex {
    var versionCount: Int { currentVersions.count + earlierVersions.count }

    /// The batches of all versions.
    var usedBatches: Set<Identifier> {
        var used: Set<Identifier> = []
        var last: Identifier?
        func keep(_ batch: Identifier) {
            // Values of one write are adjacent.
            if batch != last { used.insert(batch) }
            last = batch
        }
        let current = currentVersions.values
        for place in current.indices { keep(current[place].batch) }
        for place in earlierVersions.indices { keep(earlierVersions[place].batch) }
        return used
    }

    /// The names that records had in their projects before they were renamed, as far as versions from
    /// then are left.
    package var formerNames: [Identifier: Set<String>] {
        var names: [Identifier: Set<String>] = [:]
        for version in earlierVersions + currentVersions.values {
            guard let name = version.formerName else { continue }
            names[version.variable, default: []].insert(name)
        }
        return names
    }

    /// Returns the versions of each record, sorted by number.
    ///
    /// - Parameter records: The records to include; nil for all.
    package func versions(of records: Set<Identifier>? = nil) -> [Identifier: [StoredVersion]] {
        var versions: [Identifier: [StoredVersion]] = [:]
        for version in earlierVersions where records?.contains(version.variable) ?? true {
            versions[version.variable, default: []].append(version)
        }
        for version in currentVersions.values where records?.contains(version.variable) ?? true {
            versions[version.variable, default: []].append(version)
        }
        for (id, found) in versions where found.count > 1 {
            versions[id] = found.sorted { $0.version < $1.version }
        }
        return versions
    }
}
