package import Sealing

/// A way to open the vault: a key wrapped by a passphrase, a keyring, a key file or a recovery
/// code.
///
/// 192 bytes: id 16, kind, tier, kdf, zero, operations u32, memory u64, salt 16, nonce 24, wrapped
/// key 48, created u64 (milliseconds since 1970), zeros.
package struct KeySlot: Equatable, Sendable {
    package enum Kind: UInt8, CaseIterable, Sendable {
        /// A passphrase, with Argon2id.
        case passphrase = 1
        /// 32 random bytes in the desktop's Secret Service.
        case secretService = 2
        /// 32 random bytes in a file.
        case file = 3
        /// A recovery code, with keyed BLAKE2b.
        case recovery = 4
    }

    /// Which key is wrapped.
    package enum Tier: UInt8, Sendable {
        /// The index key: names, metadata, tokens.
        case index = 1
        /// The root: everything.
        case values = 2
    }

    enum Derivation: UInt8 {
        case none = 0
        case argon2id = 1
        case keyedHash = 2
    }

    /// Permanent; also used in the keyring.
    package let id: Identifier
    package let kind: Kind
    package let tier: Tier
    /// The key-derivation cost of a passphrase slot.
    package let cost: PassphraseCost?
    let salt: [UInt8]
    let nonce: [UInt8]
    let wrapped: [UInt8]
    /// Milliseconds since 1970.
    package let createdAt: UInt64

    /// Whether a person can open the values with it from memory or paper.
    package var isForHumans: Bool {
        tier == .values && (kind == .passphrase || kind == .recovery)
    }

    private var derivation: Derivation {
        switch kind {
        case .passphrase: .argon2id
        case .recovery: .keyedHash
        case .secretService, .file: .none
        }
    }

    static func wrapping(
        _ key: borrowing SecretBytes, under wrappingKey: borrowing SecretBytes, vault: Identifier,
        id: Identifier, kind: Kind, tier: Tier, cost: PassphraseCost?, salt: [UInt8],
        createdAt: UInt64
    ) -> KeySlot {
        let nonce = AuthenticatedCipher.randomNonce()
        let unwrapped = KeySlot(
            id: id, kind: kind, tier: tier, cost: cost, salt: salt, nonce: nonce,
            wrapped: [], createdAt: createdAt)
        var sealed: [UInt8] = []
        key.withBytes { key in
            AuthenticatedCipher.seal(
                key, nonce: nonce, additionalData: unwrapped.associatedData(vault: vault),
                key: wrappingKey, appendingTo: &sealed)
        }
        return KeySlot(
            id: id, kind: kind, tier: tier, cost: cost, salt: salt, nonce: nonce,
            wrapped: sealed, createdAt: createdAt)
    }

    /// Unwraps the key, 32 bytes.
    ///
    /// - Returns: nil if the wrapping key is wrong or the slot was changed, which are
    ///   indistinguishable.
    func unwrap(
        with wrappingKey: borrowing SecretBytes, vault: Identifier
    ) throws(VaultError) -> SecretBytes? {
        // The wrapping key may come from a keyring that other programs write to, so check its
        // length.
        guard wrappingKey.count == AuthenticatedCipher.keyByteCount else { return nil }
        let data = associatedData(vault: vault)
        do {
            var key = try SecretBytes(count: 32)
            try wrapped.withBytes { (sealed) throws(SealingError) in
                try key.withMutableBytes { (out) throws(SealingError) in
                    try AuthenticatedCipher.open(
                        sealed, nonce: nonce, additionalData: data, key: wrappingKey, into: &out)
                }
            }
            return key
        } catch SealingError.notAuthentic {
            return nil
        } catch {
            throw VaultError(error, damaged: .slot, "a slot cannot be read")
        }
    }

    /// Derives this slot's wrapping key from a passphrase. Takes the time and memory of the slot's
    /// cost.
    func wrappingKey(
        from passphrase: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        guard let cost else { throw VaultError(damaged: .slot, "a passphrase slot has no cost") }
        do {
            return try PassphraseDerivation.deriveKey(from: passphrase, salt: salt, cost: cost)
        } catch {
            throw VaultError(error, damaged: .slot, "a passphrase slot cannot be read")
        }
    }

    /// Returns "zgv3/slot", the vault id, and the slot without its wrapped key.
    private func associatedData(vault: Identifier) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(Array("zgv3/slot".utf8))
        writer.identifier(vault)
        encode(into: &writer, includingWrappedKey: false)
        return writer.bytes
    }

    func encode(into writer: inout ByteWriter, includingWrappedKey: Bool = true) {
        writer.identifier(id)
        writer.byte(kind.rawValue)
        writer.byte(tier.rawValue)
        writer.byte(derivation.rawValue)
        writer.byte(0)
        writer.uint32(cost?.operations ?? 0)
        writer.uint64(cost?.memoryByteCount ?? 0)
        writer.raw(salt)
        writer.raw(nonce)
        if includingWrappedKey { writer.raw(wrapped) }
        writer.uint64(createdAt)
        writer.raw([UInt8](repeating: 0, count: 64))
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> KeySlot {
        let id = try reader.identifier()
        let (kindNumber, tierNumber) = (try reader.byte(), try reader.byte())
        let derivationNumber = try reader.byte()
        try reader.expectZeros(1, else: .slot)
        let cost = PassphraseCost(
            operations: try reader.uint32(), memoryByteCount: try reader.uint64())
        guard let kind = Kind(rawValue: kindNumber), let tier = Tier(rawValue: tierNumber),
            kind == .passphrase ? cost.isAcceptable : cost.operations == 0,
            kind == .passphrase || cost.memoryByteCount == 0
        else {
            throw VaultError(
                damaged: .slot, "a slot's kind is unknown or its cost is out of range")
        }
        let slot = KeySlot(
            id: id, kind: kind, tier: tier, cost: kind == .passphrase ? cost : nil,
            salt: try reader.bytes(16), nonce: try reader.bytes(24),
            wrapped: try reader.bytes(48), createdAt: try reader.uint64())
        try reader.expectZeros(64, else: .slot)
        guard slot.derivation.rawValue == derivationNumber else {
            throw VaultError(damaged: .slot, "a slot's derivation does not match its kind")
        }
        return slot
    }
}
