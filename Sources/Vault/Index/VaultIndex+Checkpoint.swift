extension VaultIndex {
    /// The generation in which something was last accepted, as the index says.
    package var checkpointGeneration: UInt64 { checkpoint.generation }

    /// Makes the checkpoint of the generation that `header` is of; leaves it as it is while the values
    /// are locked.
    mutating func remakeCheckpoint(
        under header: VaultHeader, with keys: VaultKeys
    ) throws(VaultError) {
        guard let key = try keys.root?.checkpointKey() else { return }
        checkpoint = Checkpoint(of: checkpoint.entries, under: header, key: key)
    }

    /// Tells whether a holder of the root accepted an object as it is.
    func accepts(_ object: AcceptedObject) -> Bool {
        guard let content = checkpoint.entries.content(of: object.object) else { return false }
        return content.elementsEqual(object.content)
    }

    /// Tells whether a holder of the root accepted an entry of the journal as it is.
    func accepts(_ entry: AnyJournalEntry) -> Bool { accepts(AcceptedObject(entry)) }

    /// Tells whether a holder of the root sealed or accepted a version.
    ///
    /// The index is decoded with the checkpoint, and its code was checked: with the root at hand.
    /// - Parameter guess: Where its record may be among the variables.
    package func accepts(_ version: StoredVersion, guess: Int? = nil) -> Bool {
        precondition(extent.hasCheckpoint)
        return checkpoint.entries.accepts(version, guess: guess)
    }
}
