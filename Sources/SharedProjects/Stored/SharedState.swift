package import Groups
package import Vault

/// What this vault last told the group about a shared project, or learned from it: the basis for the
/// next change. In a journal entry of kind `GroupEntryKind.sharedState`. Layout:
/// `docs/group-format.md`, section 9.
package struct SharedState: Sendable {
    /// The candidates of one thing: what the next assignment replaces.
    package typealias Candidates = [Assigned: [ChangeReference]]

    /// A version of the vault that the group knows.
    package struct Version: Equatable, Sendable {
        /// The vault's number.
        package let number: UInt64
        /// The operation that introduced it.
        package let reference: ChangeReference
        /// The group's id of the version.
        package let id: Identifier
        package let author: Identifier
    }

    /// What a member says that Vercel has.
    package struct Claim: Hashable, Comparable, Sendable {
        /// The vault's number of the version.
        package let version: UInt64
        /// Vercel's id.
        package let remoteID: String
        package let key: String
        /// Vercel's time of change.
        package let updatedAt: UInt64

        package init(version: UInt64, remoteID: String, key: String, updatedAt: UInt64) {
            (self.version, self.updatedAt) = (version, updatedAt)
            (self.remoteID, self.key) = (remoteID, key)
        }

        init(from reader: inout ByteReader) throws(VaultError) {
            version = try reader.uint64()
            remoteID = try reader.filledText(limit: GroupLimits.text)
            key = try reader.filledText(limit: GroupLimits.name)
            updatedAt = try reader.uint64()
        }

        func encode(into writer: inout ByteWriter) {
            writer.uint64(version)
            writer.text(remoteID)
            writer.text(key)
            writer.uint64(updatedAt)
        }

        private var bytes: [UInt8] {
            var writer = ByteWriter()
            encode(into: &writer)
            return writer.bytes
        }

        package static func < (left: Claim, right: Claim) -> Bool {
            left.bytes.lexicographicallyPrecedes(right.bytes)
        }
    }

    /// A record that the group knows.
    package struct Record: Equatable, Sendable {
        /// The id in the group.
        package let id: Identifier
        /// The id in this vault.
        package var variable: Identifier
        package var name: String
        package var scope: Scope
        package var kind: VariableAttributes.Kind
        package var comment: String?
        package var rotationSeconds: UInt64
        package var isInUse = true
        /// The number of the version in use; 0 for none.
        package var version: UInt64 = 0
        package var candidates: Candidates = [:]
        /// Ascending by number.
        package var versions: [Version] = []
        /// The numbers of the versions that are the value: several if it is contested.
        package var choices: [UInt64] = []
        /// The numbers of versions that writers offer.
        package var offers: [UInt64] = []
        /// Ascending by their bytes. They count only where a listing of Vercel shows the same.
        package var claims: [Claim] = []
        /// Whether this vault announced that it rotates it.
        package var isRotating = false
        /// Whether a colleague ended that rotation of this vault.
        package var isTakenOver = false

        /// Adds to all version numbers.
        mutating func addToNumbers(_ growth: UInt64) {
            if growth == 0 { return }
            if version > 0 { version &+= growth }
            versions = versions.map {
                Version(
                    number: $0.number &+ growth, reference: $0.reference, id: $0.id,
                    author: $0.author)
            }
            choices = choices.map { $0 &+ growth }
            offers = offers.map { $0 &+ growth }
            claims = claims.map {
                Claim(
                    version: $0.version > 0 ? $0.version &+ growth : 0, remoteID: $0.remoteID,
                    key: $0.key, updatedAt: $0.updatedAt)
            }
        }

        package func version(_ number: UInt64) -> Version? {
            versions.first { $0.number == number }
        }
    }

    /// The id of the journal entry.
    package let id: Identifier
    package let compartment: Identifier
    package let group: GroupHash
    /// The chain of changes that this vault continues.
    package var chain: Identifier
    package var counter: UInt64 = 0
    /// The last change of the chain; zero for none.
    package var last = GroupHash.zero
    /// The changes that count and that nothing builds on yet.
    package var heads: [GroupHash] = []
    /// The candidates of project name and binding.
    package var candidates: Candidates = [:]
    /// Ascending by `id`.
    package var records: [Record] = []
    /// Late and waiting changes, as of the last sync.
    package var lateCount: UInt32 = 0
    package var waitingCount: UInt32 = 0
    /// The late changes of this member that were reported, ascending.
    package var ownLate: [GroupHash] = []
    package let createdAt: UInt64

    package init(compartment: Identifier, group: GroupHash, createdAt: UInt64) {
        id = .random()
        (self.compartment, self.group) = (compartment, group)
        chain = .random()
        self.createdAt = createdAt
    }

    /// Returns what a group last agreed about its projects.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func all(
        of group: GroupHash, in index: VaultIndex
    ) throws(VaultError) -> [SharedState] {
        try index.groupEntries(.sharedState).map(SharedState.init(_:)).filter { $0.group == group }
    }

    /// Returns what a group last agreed about one of its projects.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func of(
        _ compartment: Identifier, _ group: GroupHash, in index: VaultIndex
    ) throws(VaultError) -> SharedState? {
        try all(of: group, in: index).first { $0.compartment == compartment }
    }

    /// - Throws: ``VaultError/Code/damaged``.
    package init(_ entry: JournalEntry) throws(VaultError) {
        self = try StoredBytes.decode(entry.payload, of: "a shared project's state") {
            (reader) throws(VaultError) in try SharedStateCoding.decode(entry, from: &reader)
        }
    }

    init(_ entry: JournalEntry, compartment: Identifier, group: GroupHash) {
        (id, createdAt) = (entry.id, entry.createdAt)
        (self.compartment, self.group) = (compartment, group)
        chain = .zero
    }

    package var entry: JournalEntry {
        JournalEntry(
            id: id, kind: GroupEntryKind.sharedState.rawValue, createdAt: createdAt,
            payload: SharedStateCoding.bytes(of: self), section: id)
    }
}
