extension VaultIndex {
    /// All journal entries, including secret ones.
    var allJournalEntries: [AnyJournalEntry] {
        journal.map(AnyJournalEntry.open) + secretJournal.map(AnyJournalEntry.secret)
    }

    /// Returns a project's writes to Vercel with an unknown outcome, oldest first, if its section
    /// was opened.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a malformed entry.
    package func sends(of project: Identifier) throws(VaultError) -> [SendEntry] {
        try sends().filter { $0.project == project }
    }

    /// Returns all writes to Vercel with an unknown outcome, oldest first.
    package func sends() throws(VaultError) -> [SendEntry] {
        var sends: [SendEntry] = []
        for entry in journal {
            if let send = try SendEntry(entry) { sends.append(send) }
        }
        return sends.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Returns the journal's rotations, newest first: the open ones and, if everything was
    /// opened, those that ended.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a malformed entry.
    package func rotations() throws(VaultError) -> [RotationEntry] {
        var found: [RotationEntry] = []
        for entry in journal {
            if let rotation = try RotationEntry(entry) { found.append(rotation) }
        }
        return found.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
    }

    /// The number of journal entries that are neither writes to Vercel, ended rotations nor about
    /// groups.
    package var otherOpenWorkCount: Int {
        journal.count {
            $0.kind != RotationEntry.endedKind && $0.kind != SendEntry.kind
                && GroupEntryKind(rawValue: $0.kind) == nil
        }
    }

    /// Returns the relays that this vault is a device of, oldest first.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a malformed entry, for two with one relay, and for
    ///   too many.
    package func relays() throws(VaultError) -> [RelayRegistration] {
        var found: [RelayRegistration] = []
        for entry in secretJournal {
            let new = try RelayRegistration(entry)
            guard found.count < RelayRegistration.limit,
                !found.contains(where: { $0.relay == new.relay })
            else {
                throw VaultError(
                    damaged: .layout,
                    "there are too many relay registrations, or two for the same relay")
            }
            found.append(new)
        }
        return found.sorted { ($0.joinedAt, $0.id) < ($1.joinedAt, $1.id) }
    }
}
