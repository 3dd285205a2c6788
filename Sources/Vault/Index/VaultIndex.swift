internal import Sealing

/// What the index key opens: projects, variables, where their values lie, accounts. No value.
package struct VaultIndex {
    /// How much of the index to decode.
    package enum Extent: Sendable {
        /// Projects, variables, accounts and metadata: what a listing needs.
        case listing
        /// Listing, where the current values lie, and the checkpoint: what `reveal` and `run` need.
        case currentValues
        /// Everything, which a write needs.
        case everything

        var hasCheckpoint: Bool { self != .listing }
        var hasCurrentValues: Bool { self != .listing }
    }

    /// What was decoded; only a whole index may be written.
    package let extent: Extent
    /// Generations, audit position, approved directories.
    package var metadata = IndexMetadata()
    /// In ascending order of ids.
    package var projects: [VaultProject] = []
    /// In ascending order of ids, removed ones included.
    package var variables: [Variable] = []
    /// Where the current versions lie, by variable. Empty where the extent is ``Extent/listing``.
    package var currentVersions: CurrentVersions = [:]
    /// Where the earlier versions lie, in ascending order of variables, then versions. Empty where the extent is
    /// not ``Extent/everything``.
    package var earlierVersions: [StoredVersion] = []
    var batches: [Batch] = []
    /// Work begun and not known to be finished, in ascending order of ids.
    package var journal: [JournalEntry] = []
    /// The entries of the journal that are secrets.
    var secretJournal: [SecretJournalEntry] = []
    /// In ascending order of names.
    package var accounts: [Account] = []
    var formerLogKeys: [SecretSlice] = []
    /// Without entries in a listing, which does not decode it.
    var checkpoint = Checkpoint()

    init(extent: Extent) {
        self.extent = extent
    }

    /// The project of that name.
    package func project(named name: String) -> VaultProject? {
        projects.first { $0.name == name }
    }

    /// The project of that id.
    package func project(_ id: Identifier) -> VaultProject? {
        projects.first { $0.id == id }
    }

    /// The variables in use of a project, by name and then scope.
    package func variables(of project: Identifier) -> [Variable] {
        sorted({ $0.project == project && $0.isLive }) {
            $0.attributes.scope.description < $1.attributes.scope.description
        }
    }

    /// The removed variables of a project, by name.
    package func removedVariables(of project: Identifier) -> [Variable] {
        sorted({ $0.project == project && !$0.isLive }) { $0.id < $1.id }
    }

    /// Wanted records by name. Sorts names and places: a record is large, and costs reference counts
    /// wherever it moves.
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

    /// The records in use of one key of a project.
    package func variables(of project: Identifier, named name: String) -> [Variable] {
        variables.filter { $0.project == project && $0.isLive && $0.name == name }
    }

    /// The account of that name, or the default one for nil.
    package func account(named name: String?) -> Account? {
        guard let name else { return accounts.first(where: \.isDefault) }
        return accounts.first { $0.name == name }
    }
}

extension VaultIndex {
    /// How many versions are stored.
    var versionCount: Int { currentVersions.count + earlierVersions.count }

    /// The versions of each record in ascending order of numbers.
    ///
    /// - Parameter records: Of which; nil for all.
    func versions(of records: Set<Identifier>? = nil) -> [Identifier: [StoredVersion]] {
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
