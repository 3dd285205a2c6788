package import Sealing

extension VaultKeys {
    /// Opens a token of the value tier.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked,
    ///   ``VaultError/Code/damaged`` if it was sealed for another origin, account or vault.
    package func token(
        of account: Account, vault: Identifier, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        guard let key = try root?.tokenKey() else {
            throw VaultError(.wrongPassphrase, "the token for \(account.name) is locked")
        }
        let sealed = account.secret.withBytes { $0.array }
        do throws(SealingError) {
            return try AuthenticatedCipher.opened(
                sealed, additionalData: account.tokenData(vault: vault), key: key, in: arena)
        } catch {
            throw VaultError(
                error, damaged: .value,
                "the token for \(account.name) failed authentication: it is corrupt, or was sealed "
                    + "for another origin, account or vault")
        }
    }

    /// Seals a token so that only the value tier opens it, and only as the token of `account`, whose
    /// origin and name must be final.
    ///
    /// - Returns: 24 bytes of nonce, ciphertext, 16 bytes of tag, in `arena`.
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    func protected(
        _ token: SecretSlice, for account: Account, vault: Identifier, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        guard let key = try root?.tokenKey() else {
            throw VaultError(.wrongPassphrase, "protecting a token requires unlocked values")
        }
        let sealed = token.withBytes {
            AuthenticatedCipher.sealed(
                $0, additionalData: account.tokenData(vault: vault), key: key)
        }
        return try guarding { () throws(SealingError) in
            try sealed.withBytes { (sealed) throws(SealingError) in try arena.copy(sealed) }
        }
    }
}

extension Account {
    /// What the seal of a protected token covers: label, vault, origin and name.
    fileprivate func tokenData(vault: Identifier) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(Array("zgv3/token".utf8) + [UInt8](repeating: 0, count: 6))
        writer.identifier(vault)
        writer.text(origin)
        writer.text(name)
        return writer.bytes
    }
}
