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

        package init(variable: Identifier, contest: Contest) {
            (self.variable, self.contest) = (variable, contest)
        }
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
    /// Variables for which a writer offers another value, ascending.
    package var offered: [Identifier]
    /// The Vercel project that the group proposes to bind to.
    package var proposal: GroupBinding?
    /// What this vault's project was bound to when a write last compared it: a later change is a new
    /// proposal.
    package var recordedBinding: GroupBinding?
    /// Ascending by variable.
    package var held: [HeldChange]
    /// Rotations of colleagues that did not end, ascending by reference.
    package var notices: [RotationNotice] = []
    package let createdAt: UInt64

    package init(
        project: Identifier, group: GroupHash, compartment: Identifier, isAdopted: Bool,
        createdAt: UInt64
    ) {
        id = .random()
        self.project = project
        (self.group, self.compartment) = (group, compartment)
        self.isAdopted = isAdopted
        (contested, offered, held) = ([], [], [])
        self.createdAt = createdAt
    }

    /// - Throws: ``VaultError/Code/damaged``.
    package init(_ entry: JournalEntry) throws(VaultError) {
        self = try StoredBytes.decode(entry.payload, of: "a shared project") {
            (reader) throws(VaultError) in try SharedProject(entry, from: &reader)
        }
    }

    private init(_ entry: JournalEntry, from reader: inout ByteReader) throws(VaultError) {
        (id, createdAt) = (entry.id, entry.createdAt)
        guard let section = entry.section else {
            throw VaultError(damaged: .layout, "a journal entry is in the wrong section")
        }
        project = section
        group = try GroupHash.decode(from: &reader)
        compartment = try reader.identifier()
        isAdopted = try reader.flag()
        contested = try reader.ascending(
            limit: 1_000_000, least: 17, of: "contested variables", by: \.variable
        ) { (reader) throws(VaultError) in
            ContestedVariable(
                variable: try reader.identifier(), contest: Contest(rawValue: try reader.byte()))
        }
        offered = try reader.identifiers(limit: 1_000_000, of: "offered variables")
        proposal = try reader.optional(GroupBinding.decode(from:))
        recordedBinding = try reader.optional(GroupBinding.decode(from:))
        held = try reader.ascending(
            limit: 1_000_000, least: 51, of: "changes to accept", by: \.variable,
            HeldChange.init(from:))
        notices = try reader.ascending(
            limit: 1_000_000, least: 74, of: "rotations of colleagues", by: \.reference,
            RotationNotice.init(from:))
    }

    package var entry: JournalEntry {
        var writer = ByteWriter(reserving: 112 + 17 * contested.count + 16 * offered.count)
        group.encode(into: &writer)
        writer.identifier(compartment)
        writer.flag(isAdopted)
        writer.list(contested.sorted { $0.variable < $1.variable }) { writer, item in
            writer.identifier(item.variable)
            writer.byte(item.contest.rawValue)
        }
        writer.list(offered.sorted()) { $0.identifier($1) }
        writer.optional(proposal) { $1.encode(into: &$0) }
        writer.optional(recordedBinding) { $1.encode(into: &$0) }
        writer.list(held.sorted { $0.variable < $1.variable }) { $1.encode(into: &$0) }
        writer.list(notices.sorted { $0.reference < $1.reference }) { $1.encode(into: &$0) }
        return JournalEntry(
            id: id, kind: GroupEntryKind.sharedProject.rawValue, createdAt: createdAt,
            payload: writer.bytes, section: project)
    }

    /// Returns the shared projects of a vault, also from a part of the index.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func all(in index: VaultIndex) throws(VaultError) -> [SharedProject] {
        try index.groupEntries(.sharedProject).map(SharedProject.init(_:))
    }

    /// Returns those that are shared with one group.
    package static func all(
        of group: GroupHash, in index: VaultIndex
    ) throws(VaultError) -> [SharedProject] {
        try all(in: index).filter { $0.group == group }
    }

    /// Returns what a project of the vault is shared as; nil if it is not shared.
    package static func of(
        _ project: Identifier, in index: VaultIndex
    ) throws(VaultError) -> SharedProject? {
        try all(in: index).first { $0.project == project }
    }
}
