extension VaultIndex {
    /// The generation in which anything was last accepted, according to the index.
    package var checkpointGeneration: UInt64 { checkpoint.generation }

    /// Creates the checkpoint for the generation of `header`. Does nothing while the values are
    /// locked.
    mutating func remakeCheckpoint(
        under header: VaultHeader, with keys: VaultKeys
    ) throws(VaultError) {
        guard let key = try keys.root?.checkpointKey() else { return }
        checkpoint = Checkpoint(of: checkpoint.entries, under: header, key: key)
    }

    /// Returns whether an object was accepted, with the root, in its current state.
    func accepts(_ object: AcceptedObject) -> Bool {
        guard let content = checkpoint.entries.content(of: object.object) else { return false }
        return content.elementsEqual(object.content)
    }

    /// Returns whether a journal entry was accepted, with the root, in its current state.
    func accepts(_ entry: AnyJournalEntry) -> Bool { accepts(AcceptedObject(entry)) }

    /// Returns whether a version was sealed or accepted with the root.
    ///
    /// The index must include a checkpoint whose MAC was verified.
    /// - Parameter guess: The likely index of the record among the variables.
    package func accepts(_ version: StoredVersion, guess: Int? = nil) -> Bool {
        precondition(extent.hasCheckpoint)
        return checkpoint.entries.accepts(version, guess: guess)
    }
}
