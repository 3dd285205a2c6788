package import Sealing

extension VaultKeys {
    /// The key that choices of notifications are kept under: label "zgv2sub_", number 4. It follows
    /// from the index key, and opens nothing of the vault.
    package func notificationKey() throws(VaultError) -> SecretBytes {
        do {
            return try KeyDerivation.derive(from: index.bytes, id: 4, context: "zgv2sub_")
        } catch { throw VaultError(error, damaged: .tag, "a key cannot be derived") }
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
}
