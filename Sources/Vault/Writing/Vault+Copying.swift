extension Vault {
    /// Writes a copy of this generation, checked before and, read back from the disk, after.
    ///
    /// - Parameters:
    ///   - replaces: Whether a file that is there may go.
    ///   - keys: With the root every value is opened too.
    /// - Returns: What the check of the copy looked at.
    /// - Throws: ``VaultError/Code/damaged`` when this vault or the copy is, and then nothing is
    ///   written; ``VaultError/Code/exists``.
    package func writeCopy(
        to destination: String, in store: any FileStore, replaces: Bool, keys: VaultKeys
    ) throws -> VaultInspection {
        try verify(with: keys)
        var inspection = VaultInspection()
        try store.write(
            [.copy(of: file, offset: 0, count: file.byteCount)], to: destination,
            replaces: replaces
        ) { copy in
            inspection = try Vault(path: destination, file: copy).inspection(with: keys)
            try inspection.expectWhole()
        }
        return inspection
    }
}
