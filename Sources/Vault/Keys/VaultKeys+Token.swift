package import Sealing

extension VaultKeys {
    /// Opens a token of the value tier.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked,
    ///   ``VaultError/Code/damaged`` if the box was sealed for another origin, account or vault.
    package func token(
        of account: Account, vault: Identifier, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        guard let pair = try root?.boxKeyPair() else {
            throw VaultError(.wrongPassphrase, "the token for \(account.name) is locked")
        }
        let text: SecretSlice
        do {
            text = try arena.allocate(
                count: max(account.secret.count - SealedBox.overheadByteCount, 0))
            try account.secret.withBytes { (box) throws(SealingError) in
                try text.withMutableBytes { (out) throws(SealingError) in
                    try SealedBox.open(box, with: pair, into: &out)
                }
            }
        } catch {
            throw VaultError(
                error, damaged: .value,
                "the token for \(account.name) failed authentication: it is corrupt or was tampered with"
            )
        }
        let front = account.protectedFront(vault: vault)
        let isItsOwn =
            text.count > front.count
            && text.part(0..<front.count).withBytes { found in
                front.withBytes { found.isEqualInConstantTime(to: $0) }
            }
        guard isItsOwn else {
            throw VaultError(
                damaged: .value,
                "the token for \(account.name) was sealed for a different origin, account or vault")
        }
        return text.part(front.count..<text.count)
    }
}

extension Account {
    /// Returns what precedes a protected token: label, vault, origin and name.
    fileprivate func protectedFront(vault: Identifier) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(Array("zgv2/token".utf8) + [UInt8](repeating: 0, count: 6))
        writer.identifier(vault)
        writer.text(origin)
        writer.text(name)
        return writer.bytes
    }

    /// Seals this account's token to a vault's public key.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for an unusable public key.
    func protected(
        _ token: SecretSlice, vault: Identifier, publicKey: [UInt8], in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        let front = protectedFront(vault: vault)
        return try guarding { () throws(SealingError) in
            var text = try SecretBuffer(capacity: front.count + token.count)
            try text.append(front)
            try text.append(token)
            let box = try text.withBytes { (text) throws(SealingError) in
                try SealedBox.seal(text, to: publicKey)
            }
            return try box.withBytes { (box) throws(SealingError) in try arena.copy(box) }
        }
    }
}
