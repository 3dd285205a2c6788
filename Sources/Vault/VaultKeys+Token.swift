package import Sealing

extension VaultKeys {
    /// Opens a token that is kept in the value tier.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked,
    ///   ``VaultError/Code/damaged`` when the box was made for another vault.
    package func token(
        of account: Account, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        guard let pair = try root?.boxKeyPair() else {
            throw VaultError(.wrongPassphrase, "the token of \(account.name) is locked")
        }
        do {
            let text = try arena.allocate(
                count: max(account.secret.count - SealedBox.overheadByteCount, 0))
            try account.secret.withBytes { (box) throws(SealingError) in
                try text.withMutableBytes { (out) throws(SealingError) in
                    try SealedBox.open(box, with: pair, into: &out)
                }
            }
            return text
        } catch {
            throw VaultError(error, damaged: .value, "the token of \(account.name) was changed")
        }
    }
}

extension VaultTransaction {
    /// Seals a token so that only the value tier opens it.
    package func protected(
        _ token: SecretSlice, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        try token.sealed(to: publicKey, in: arena)
    }
}

extension SecretSlice {
    /// A token, sealed to a vault's public key.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a key that nothing can be sealed to.
    func sealed(
        to publicKey: [UInt8], in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        try guarding { () throws(SealingError) in
            let box = try withBytes { (token) throws(SealingError) in
                try SealedBox.seal(token, to: publicKey)
            }
            return try box.withBytes { (box) throws(SealingError) in try arena.copy(box) }
        }
    }
}
