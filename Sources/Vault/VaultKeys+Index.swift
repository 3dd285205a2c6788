package import Sealing

extension VaultKeys {
    /// A key that follows from the index key, and opens nothing of the vault.
    package func derivedKey(for purpose: IndexKey.Purpose) throws(VaultError) -> SecretBytes {
        try index.derivedKey(for: purpose)
    }

    /// The same keys without those of the values, for a process that runs for long and never needs
    /// them.
    package func indexTier() throws(VaultError) -> VaultKeys {
        let epoch = index.epoch
        let copy = try guarding { () throws(SealingError) in
            try index.bytes.withBytes { (bytes) throws(SealingError) in
                try SecretBytes(copying: bytes)
            }
        }
        return VaultKeys(index: IndexKey(copy, epoch: epoch), root: nil)
    }

    /// Lends the 32 bytes of the index key to what keeps them for a time.
    package func withIndexKey<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try index.withBytes(body)
    }
}

extension IndexKey {
    fileprivate borrowing func withBytes<R, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R { try bytes.withBytes(body) }
}

extension Vault {
    /// Takes an index key that was kept elsewhere, of 32 bytes. Whether it is the right one shows when
    /// the index is opened.
    package func unlock(indexKey: consuming SecretBytes) -> VaultKeys {
        VaultKeys(index: IndexKey(indexKey, epoch: header.indexEpoch), root: nil)
    }
}
