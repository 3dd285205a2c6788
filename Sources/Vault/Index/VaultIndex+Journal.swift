extension VaultIndex {
    /// All entries of the journal, secret ones too.
    var allJournalEntries: [AnyJournalEntry] {
        journal.map(AnyJournalEntry.open) + secretJournal.map(AnyJournalEntry.secret)
    }

    /// Writes to the platform's side of a project whose outcome is not known, oldest first. Empty
    /// unless the whole index was decoded.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for an entry that cannot be read.
    package func sends(of project: Identifier) throws(VaultError) -> [SendEntry] {
        try sends().filter { $0.project == project }
    }

    /// All writes to the platform whose outcome is not known, oldest first.
    package func sends() throws(VaultError) -> [SendEntry] {
        var sends: [SendEntry] = []
        for entry in journal {
            if let send = try SendEntry(entry) { sends.append(send) }
        }
        return sends.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// The rotations of the journal, newest first. Empty unless the whole index was decoded.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for an entry that cannot be read.
    package func rotations() throws(VaultError) -> [RotationEntry] {
        var found: [RotationEntry] = []
        for entry in journal {
            if let rotation = try RotationEntry(entry) { found.append(rotation) }
        }
        return found.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
    }

    /// Sees that no rotation was put in or changed without the root: no answer makes up for that. Does
    /// nothing while the values are locked, and for a part of an index.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    func checkRotations(with keys: VaultKeys) throws(VaultError) {
        guard keys.opensValues, extent == .everything else { return }
        for entry in journal
        where RotationEntry.kinds.contains(entry.kind) && !accepts(.open(entry)) {
            throw RotationEntry.forged
        }
    }

    /// Tells whether something is begun that may need versions of values: all of the journal but
    /// rotations that have ended.
    var hasOpenWork: Bool { journal.contains { $0.kind != RotationEntry.endedKind } }

    /// How many entries of the journal are neither writes to the platform nor rotations that have
    /// ended.
    package var otherOpenWorkCount: Int {
        journal.count { $0.kind != RotationEntry.endedKind && $0.kind != SendEntry.kind }
    }

    /// The relays that this vault is a device of, oldest first. Empty unless the whole index was
    /// decoded.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for an entry that cannot be read, for two of one relay,
    ///   and for more than there may be.
    package func relays() throws(VaultError) -> [RelayRegistration] {
        var found: [RelayRegistration] = []
        for entry in secretJournal {
            let new = try RelayRegistration(entry)
            guard found.count < RelayRegistration.limit,
                !found.contains(where: { $0.relay == new.relay })
            else {
                throw VaultError(
                    damaged: .layout,
                    "there are too many registrations with relays, or two with one")
            }
            found.append(new)
        }
        return found.sorted { ($0.joinedAt, $0.id) < ($1.joinedAt, $1.id) }
    }
}
