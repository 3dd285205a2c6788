package import Sealing

extension VaultKeys {
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
