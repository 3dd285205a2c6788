extension VaultTransaction {
    /// Adds an entry, or replaces the one with its id.
    ///
    /// - Throws: ``VaultError/Code/tooLarge``.
    package mutating func keep(_ entry: JournalEntry) throws(VaultError) {
        guard entry.payload.count <= GroupEntryKind.payloadLimit else {
            throw VaultError(.tooLarge, "a vault's data about a group exceeds 64 MiB")
        }
        index.journal.removeAll { $0.id == entry.id }
        index.journal.append(entry)
    }

    /// Removes entries, if they exist.
    package mutating func removeGroupEntries(_ ids: Set<Identifier>) {
        index.journal.removeAll {
            ids.contains($0.id) && GroupEntryKind(rawValue: $0.kind) != nil
        }
    }
}
