package import Sealing

extension VaultKeys {
    /// The key that answers of the platform are kept under: label "zgv2sub_", number 3. It follows
    /// from the index key, and opens nothing of the vault.
    package func answerCacheKey() throws(VaultError) -> SecretBytes {
        do {
            return try KeyDerivation.derive(from: index.bytes, id: 3, context: "zgv2sub_")
        } catch { throw VaultError(error, damaged: .tag, "a key cannot be derived") }
    }
}
