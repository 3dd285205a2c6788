extension VaultIndex {
    /// Returns the entries of a kind, by id. With a part of the index only
    /// ``GroupEntryKind/sharedProject`` is there.
    package func groupEntries(_ kind: GroupEntryKind) -> [JournalEntry] {
        journal.filter { $0.kind == kind.rawValue }
    }

    /// The projects that are shared. Their versions stay, whatever the settings say: a member can
    /// still choose one.
    package var sharedProjectIDs: Set<Identifier> {
        Set(groupEntries(.sharedProject).compactMap(\.section))
    }
}
