extension VaultTransaction {
    /// Puts writes that are about to be made into the journal.
    package mutating func begin(_ sends: [SendEntry]) {
        index.journal += sends.map(\.entry)
    }

    /// Takes writes whose outcome is recorded out of the journal.
    package mutating func end(_ sends: [Identifier]) {
        if sends.isEmpty { return }
        let ended = Set(sends)
        index.journal.removeAll { ended.contains($0.id) }
    }

    /// Keeps a rotation as it stands; of those that have ended, the newest few.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package mutating func keep(_ rotation: RotationEntry) throws(VaultError) {
        guard keys.opensValues else {
            throw VaultError(.wrongPassphrase, "a rotation needs the values open")
        }
        let entry = try rotation.entry()
        index.journal.removeAll { $0.id == entry.id }
        index.journal.append(entry)
        if rotation.isOpen { return }
        let ended = index.journal.filter { $0.kind == RotationEntry.endedKind }
            .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
        let dropped = Set(ended.dropFirst(RotationEntry.historyLimit).map(\.id))
        if !dropped.isEmpty { index.journal.removeAll { dropped.contains($0.id) } }
    }

    /// The rotation of that id as it stands in the file now; nil where there is none.
    package func rotation(_ id: Identifier) throws(VaultError) -> RotationEntry? {
        guard let entry = index.journal.first(where: { $0.id == id }) else { return nil }
        guard keys.opensValues else {
            throw VaultError(.wrongPassphrase, "a rotation needs the values open")
        }
        return try RotationEntry(entry)
    }

    /// Takes a rotation out of the journal.
    package mutating func forget(rotation id: Identifier) {
        index.journal.removeAll { $0.id == id }
    }

    /// Keeps a registration; the caller has seen that there is none with the same relay.
    ///
    /// - Throws: ``VaultError/Code/tooLarge`` where there are as many as there may be.
    package mutating func join(_ registration: RelayRegistration) throws(VaultError) {
        guard index.secretJournal.count < RelayRegistration.limit else {
            throw VaultError(.tooLarge, "a vault joins at most \(RelayRegistration.limit) relays")
        }
        index.secretJournal.append(try registration.entry())
    }

    /// Forgets a registration. That it is not there is no error.
    package mutating func leave(_ registration: Identifier) {
        index.secretJournal.removeAll { $0.id == registration }
    }
}
