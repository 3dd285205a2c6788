package import Groups
package import Vault

/// A finished, signed change that no place was seen to hold, in a journal entry of kind
/// `GroupEntryKind.outgoingChange`: the hash of the group, then the object.
package struct OutgoingChange: Sendable {
    package let id: Identifier
    package let group: GroupHash
    package let object: [UInt8]
    package let createdAt: UInt64

    package init(group: GroupHash, object: [UInt8], createdAt: UInt64) {
        id = .random()
        (self.group, self.object, self.createdAt) = (group, object, createdAt)
    }

    /// Returns the changes that wait for one group.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func all(
        of group: GroupHash, in index: VaultIndex
    ) throws(VaultError) -> [OutgoingChange] {
        try index.groupEntries(.outgoingChange).map(OutgoingChange.init(_:))
            .filter { $0.group == group }
    }

    /// - Throws: ``VaultError/Code/damaged``.
    package init(_ entry: JournalEntry) throws(VaultError) {
        (id, createdAt) = (entry.id, entry.createdAt)
        (group, object) = try StoredBytes.decode(entry.payload, of: "an outgoing change") {
            (reader) throws(VaultError) in
            (
                try GroupHash.decode(from: &reader), try reader.bytes(reader.remaining)
            )
        }
    }

    package var entry: JournalEntry {
        JournalEntry(
            id: id, kind: GroupEntryKind.outgoingChange.rawValue, createdAt: createdAt,
            payload: group.bytes + object, section: id)
    }
}
