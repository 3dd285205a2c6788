extension VaultIndex {
    /// All journal entries, including secret ones.
    var allJournalEntries: [AnyJournalEntry] {
        journal.map(AnyJournalEntry.open) + secretJournal.map(AnyJournalEntry.secret)
    }

    /// Returns a project's writes to Vercel with an unknown outcome, oldest first. Empty unless the
    /// whole index was decoded.
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

    /// Returns the journal's rotations, newest first. Empty unless the whole index was decoded.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a malformed entry.
    package func rotations() throws(VaultError) -> [RotationEntry] {
        var found: [RotationEntry] = []
        for entry in journal {
            if let rotation = try RotationEntry(entry) { found.append(rotation) }
        }
        return found.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
    }

    /// Checks that no rotation, and nothing about a group, was inserted or changed without the root,
    /// and nothing about a group removed; the user cannot override this. Does nothing while the
    /// values are locked, or for a listing.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    func checkRootEntries(with keys: VaultKeys) throws(VaultError) {
        guard keys.opensValues, extent.hasCheckpoint else { return }
        for entry in journal
        where GroupEntryKind.requiringRoot.contains(entry.kind) && !accepts(.open(entry)) {
            if RotationEntry.kinds.contains(entry.kind) { throw RotationEntry.forged }
            throw Self.forgedGroupEntry
        }
        let entries = checkpoint.entries
        for place in entries.journalEntries {
            // Parts of the index have no other entries about groups.
            guard case .journalEntry(let accepted) = entries.accepted(at: place),
                let kind = GroupEntryKind(rawValue: accepted.kind),
                extent == .everything || kind == .sharedProject
            else { continue }
            guard journal.contains(where: { $0.id == accepted.id }) else {
                throw Self.forgedGroupEntry
            }
        }
    }

    private static var forgedGroupEntry: VaultError {
        VaultError(
            damaged: .rotation,
            "group data in the vault was changed by someone who cannot open the values")
    }

    /// Whether there is unfinished work that may need versions of values: any entry but ended
    /// rotations.
    var hasOpenWork: Bool {
        journal.contains {
            $0.kind != RotationEntry.endedKind && GroupEntryKind(rawValue: $0.kind) == nil
        }
    }

    /// The number of journal entries that are neither writes to Vercel, ended rotations nor about
    /// groups.
    package var otherOpenWorkCount: Int {
        journal.count {
            $0.kind != RotationEntry.endedKind && $0.kind != SendEntry.kind
                && GroupEntryKind(rawValue: $0.kind) == nil
        }
    }

    /// Returns the relays that this vault is a device of, oldest first. Empty unless the whole
    /// index was decoded.
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
