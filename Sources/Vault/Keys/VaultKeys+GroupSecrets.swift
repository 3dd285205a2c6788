package import Sealing

extension VaultKeys {
    /// Seals a member's private keys under a key derived from the root: label "zgv3root", number 4.
    ///
    /// - Parameter entry: The id of the journal entry, which the seal covers.
    /// - Returns: 24 bytes of nonce, ciphertext, 16 bytes of tag.
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package func sealedGroupSecrets(
        _ secrets: SecretSlice, vault: Identifier, entry: Identifier
    ) throws(VaultError) -> [UInt8] {
        let key = try groupKey()
        return secrets.withBytes {
            AuthenticatedCipher.sealed($0, additionalData: Self.data(vault, entry), key: key)
        }
    }

    /// Opens what `sealedGroupSecrets` sealed, into `arena`.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked,
    ///   ``VaultError/Code/damaged``.
    package func groupSecrets(
        _ sealed: [UInt8], vault: Identifier, entry: Identifier, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        let key = try groupKey()
        do {
            return try AuthenticatedCipher.opened(
                sealed, additionalData: Self.data(vault, entry), key: key, in: arena)
        } catch {
            throw VaultError(
                error, damaged: .tag,
                "the keys of a group failed authentication: they are corrupt or were tampered with")
        }
    }

    private func groupKey() throws(VaultError) -> SecretBytes {
        guard let key = try root?.groupKey() else {
            throw VaultError(.wrongPassphrase, "the keys of a group are locked")
        }
        return key
    }

    private static func data(_ vault: Identifier, _ entry: Identifier) -> [UInt8] {
        Array("zgv3/group".utf8) + [UInt8](repeating: 0, count: 6) + vault.bytes + entry.bytes
    }
}
