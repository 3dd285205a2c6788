extension VaultTransaction {
    /// Adds writes to the journal before they are sent.
    package mutating func begin(_ sends: [SendEntry]) {
        index.journal += sends.map(\.entry)
    }

    /// Removes writes from the journal once their outcome is recorded.
    package mutating func end(_ sends: [Identifier]) {
        if sends.isEmpty { return }
        let ended = Set(sends)
        index.journal.removeAll { ended.contains($0.id) }
    }

    /// Stores the current state of a rotation, keeping only the most recent ended ones.
    package mutating func keep(_ rotation: RotationEntry) throws(VaultError) {
        let entry = try rotation.entry()
        index.journal.removeAll { $0.id == entry.id }
        index.journal.append(entry)
        if rotation.isOpen { return }
        let ended = index.journal.filter { $0.kind == RotationEntry.endedKind }
            .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
        let dropped = Set(ended.dropFirst(RotationEntry.historyLimit).map(\.id))
        if !dropped.isEmpty { index.journal.removeAll { dropped.contains($0.id) } }
    }

    /// Returns the rotation with that id, or nil.
    package func rotation(_ id: Identifier) throws(VaultError) -> RotationEntry? {
        guard let entry = index.journal.first(where: { $0.id == id }) else { return nil }
        return try RotationEntry(entry)
    }

    package mutating func forget(rotation id: Identifier) {
        index.journal.removeAll { $0.id == id }
    }

    /// Adds a registration. The caller must have checked that no other has the same relay.
    ///
    /// - Throws: ``VaultError/Code/tooLarge`` if the limit is reached.
    package mutating func join(_ registration: RelayRegistration) throws(VaultError) {
        guard index.secretJournal.count < RelayRegistration.limit else {
            throw VaultError(
                .tooLarge, "a vault can join at most \(RelayRegistration.limit) relays")
        }
        index.secretJournal.append(try registration.entry())
    }

    /// Removes a registration, if it exists.
    package mutating func leave(_ registration: Identifier) {
        index.secretJournal.removeAll { $0.id == registration }
    }
}
