package import Groups
package import Vault

/// Which group a project is shared with, in a journal entry of kind
/// `GroupEntryKind.sharedProject`. Layout: `docs/group-format.md`, section 9.
package struct SharedProject: Sendable {
    /// Why a variable cannot be given out before somebody decides.
    package struct Contest: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Members stored different values at the same time.
        package static let value = Contest(rawValue: 1)
        /// Somebody changed it without knowing that they had lost the right.
        package static let late = Contest(rawValue: 2)
        package static let name = Contest(rawValue: 4)
        package static let scope = Contest(rawValue: 8)
        /// Another variable has the same name and an overlapping scope.
        package static let twin = Contest(rawValue: 16)
        /// A colleague's value does not open.
        package static let unreadable = Contest(rawValue: 32)

        package init(_ reasons: [RecordState.Contest]) {
            self = []
            for reason in reasons {
                switch reason {
                case .value: insert(.value)
                case .late: insert(.late)
                case .name: insert(.name)
                case .scope: insert(.scope)
                case .twin: insert(.twin)
                }
            }
        }
    }

    /// A contested variable of the vault.
    package struct ContestedVariable: Equatable, Sendable {
        package let variable: Identifier
        package let contest: Contest
    }

    /// The id of the journal entry.
    package let id: Identifier
    /// The project in this vault.
    package var project: Identifier
    package let group: GroupHash
    /// The project in the group.
    package let compartment: Identifier
    /// Whether the user has given it a name and uses it; until then it is called `web@acme`.
    package var isAdopted: Bool
    /// Ascending by variable.
    package var contested: [ContestedVariable]
    /// The Vercel project that the group proposes to bind to.
    package var proposal: GroupBinding?
    package let createdAt: UInt64

    package init(
        project: Identifier, group: GroupHash, compartment: Identifier, isAdopted: Bool,
        createdAt: UInt64
    ) {
        id = .random()
        self.project = project
        (self.group, self.compartment) = (group, compartment)
        self.isAdopted = isAdopted
        contested = []
        self.createdAt = createdAt
    }

    /// - Throws: ``VaultError/Code/damaged``.
    package init(_ entry: JournalEntry) throws(VaultError) {
        (id, createdAt) = (entry.id, entry.createdAt)
        let parts = try StoredBytes.decode(entry.payload, of: "a shared project") {
            (reader) throws(VaultError) in
            let project = try reader.identifier()
            let group = try GroupHash.decode(from: &reader)
            let compartment = try reader.identifier()
            let isAdopted = try reader.flag()
            let contested = try reader.ascending(
                limit: 1_000_000, least: 17, of: "contested variables",
                by: \ContestedVariable.variable
            ) { (reader) throws(VaultError) in
                ContestedVariable(
                    variable: try reader.identifier(),
                    contest: Contest(rawValue: try reader.byte()))
            }
            let proposal = try reader.optional { (reader) throws(VaultError) in
                try GroupBinding.decode(from: &reader)
            }
            return (project, group, compartment, isAdopted, contested, proposal)
        }
        (project, group, compartment) = (parts.0, parts.1, parts.2)
        (isAdopted, contested, proposal) = (parts.3, parts.4, parts.5)
    }

    package var entry: JournalEntry {
        var writer = ByteWriter(reserving: 128 + 17 * contested.count)
        writer.identifier(project)
        group.encode(into: &writer)
        writer.identifier(compartment)
        writer.flag(isAdopted)
        writer.list(contested.sorted { $0.variable < $1.variable }) { writer, item in
            writer.identifier(item.variable)
            writer.byte(item.contest.rawValue)
        }
        writer.optional(proposal) { $1.encode(into: &$0) }
        return JournalEntry(
            id: id, kind: GroupEntryKind.sharedProject.rawValue, createdAt: createdAt,
            payload: writer.bytes)
    }

    /// Returns the shared projects of a vault, also from a part of the index.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func all(in index: VaultIndex) throws(VaultError) -> [SharedProject] {
        var found: [SharedProject] = []
        for entry in index.groupEntries(.sharedProject) { found.append(try SharedProject(entry)) }
        return found
    }
}
