extension Vault {
    /// Writes a copy of this generation. Verifies the vault first, and then the copy as read back
    /// from disk.
    ///
    /// - Parameters:
    ///   - replaces: Whether an existing file may be replaced.
    ///   - keys: With the root, all values are opened too.
    /// - Returns: What verifying the copy covered.
    /// - Throws: ``VaultError/Code/damaged`` if this vault or the copy is damaged, in which case
    ///   nothing is written; ``VaultError/Code/exists``.
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
            try inspection.throwFirstProblem()
        }
        return inspection
    }
}
