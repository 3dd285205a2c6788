internal import Sealing

/// What the index key opens: projects, variables, locations of their values, accounts. No values.
///
/// The table of the index, and the sections that were opened.
package struct VaultIndex {
    package enum Extent: Sendable {
        /// The table, and the variables and the journal of projects' sections: enough for a listing.
        case listing
        /// The listing without agreements, and the current values' locations: enough for `reveal`
        /// and `run`.
        case valuesOnly
        /// The listing and the current values' locations.
        case currentValues
        /// Everything, also the sections of journal entries. Writing requires it.
        case everything

        var hasCurrentValues: Bool { self != .listing }
        var hasAgreements: Bool { self != .valuesOnly }
    }

    /// What was decoded of the sections that were opened. Only everything can be written.
    package let extent: Extent
    /// Where all sections are, ascending by id, opened or not.
    var sections: [SectionExtent] = []
    /// The sections that were opened, and the new ones.
    private(set) var openedSections: Set<Identifier> = []
    /// Generations, audit position, approved directories.
    package var metadata = IndexMetadata()
    /// Sorted by id.
    package var projects: [VaultProject] = []
    /// Those of the opened sections, including removed ones.
    package var variables: [Variable] = []
    /// The current versions by variable. Empty for ``Extent/listing``.
    package var currentVersions: CurrentVersions = [:]
    /// The earlier versions. Empty unless the extent is ``Extent/everything``.
    package var earlierVersions: [StoredVersion] = []
    var batches: [Batch] = []
    /// What was agreed about records on Vercel that no variable has as its state, by section.
    package internal(set) var otherAgreements: [Identifier: [Agreement]] = [:]
    /// Unfinished operations and what belongs to groups, of the table and the opened sections.
    package var journal: [JournalEntry] = []
    /// The secret entries of the journal.
    var secretJournal: [SecretJournalEntry] = []
    /// Sorted by name.
    package var accounts: [Account] = []
    var formerLogKeys: [SecretSlice] = []

    init(extent: Extent) {
        self.extent = extent
    }

    /// Adds what a section holds.
    mutating func add(_ section: IndexSection, _ id: Identifier) {
        openedSections.insert(id)
        // An empty array takes over the section's memory.
        if variables.isEmpty {
            variables = section.variables
        } else {
            variables += section.variables
        }
        currentVersions.append(ascending: section.currentVersions)
        if earlierVersions.isEmpty {
            earlierVersions = section.earlierVersions
        } else {
            earlierVersions += section.earlierVersions
        }
        batches += section.batches
        if let others = section.otherAgreements, !others.isEmpty { otherAgreements[id] = others }
        journal += section.journal
    }

    /// Whether all of a project's variables are here: its section was opened, or it has none.
    package func isOpened(_ project: Identifier) -> Bool {
        if openedSections.contains(project) { return true }
        let place = sections.indices.firstIndex(notPreceding: { sections[$0].id < project })
        return place == sections.endIndex || sections[place].id != project
    }

    /// A project that was not opened would seem to be empty.
    private func expectOpened(_ project: Identifier) {
        precondition(isOpened(project), "the section of a project was not opened")
    }

    package func project(named name: String) -> VaultProject? {
        projects.first { $0.name == name }
    }

    package func project(_ id: Identifier) -> VaultProject? {
        projects.first { $0.id == id }
    }

    /// Returns a project's variables in use, sorted by name, then scope.
    package func variables(of project: Identifier) -> [Variable] {
        expectOpened(project)
        return sorted({ $0.project == project && $0.isLive }) {
            $0.attributes.scope.description < $1.attributes.scope.description
        }
    }

    /// Returns a project's removed variables, sorted by name.
    package func removedVariables(of project: Identifier) -> [Variable] {
        expectOpened(project)
        return sorted({ $0.project == project && !$0.isLive }) { $0.id < $1.id }
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
        expectOpened(project)
        return variables.filter { $0.project == project && $0.name == name }
    }

    /// Returns the highest version number that any record of a name ever had; 0 without one.
    package func highestVersion(of project: Identifier, named name: String) -> UInt64 {
        var highest: UInt64 = 0
        for place in variables.indices
        where variables[place].project == project && variables[place].name == name {
            highest = max(highest, variables[place].highestVersion)
        }
        return highest
    }

    /// Returns the number that the next value of a name gets.
    package func nextVersion(
        of project: Identifier, named name: String
    ) throws(VaultError) -> UInt64 {
        try Self.version(after: highestVersion(of: project, named: name), of: name)
    }

    static func version(after highest: UInt64, of name: String) throws(VaultError) -> UInt64 {
        let (number, overflow) = highest.addingReportingOverflow(1)
        guard !overflow else {
            throw VaultError(.tooLarge, "\(name) has no version numbers left")
        }
        return number
    }

    /// Returns the account with that name, or the default account for nil.
    package func account(named name: String?) -> Account? {
        guard let name else { return accounts.first(where: \.isDefault) }
        return accounts.first { $0.name == name }
    }
}

extension VaultIndex {
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
