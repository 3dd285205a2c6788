package import Sealing

extension VaultTransaction {
    /// Adds a way to open the vault.
    ///
    /// - Throws: ``VaultError/Code/tooLarge`` beyond 16 slots or 4 passphrases,
    ///   ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package mutating func add(_ slot: KeySlot) throws(VaultError) {
        try expectRoot()
        try VaultHeader.checkRoom(for: slot.kind, among: slots)
        slots.append(slot)
    }

    /// Removes a way to open the vault.
    ///
    /// - Throws: ``VaultError/Code/lastSlot`` for the last passphrase or recovery slot,
    ///   ``VaultError/Code/slotsChanged`` when there is no such slot any more.
    package mutating func remove(slot id: Identifier) throws(VaultError) {
        try expectRoot()
        let position = try position(ofSlot: id)
        try VaultHeader.checkRemoval(of: slots[position], among: slots)
        slots.remove(at: position)
    }

    /// Puts a slot in the place of another one.
    ///
    /// - Throws: ``VaultError/Code/slotsChanged`` when there is no such slot any more.
    package mutating func replace(slot id: Identifier, with slot: KeySlot) throws(VaultError) {
        try expectRoot()
        slots[try position(ofSlot: id)] = slot
    }

    private func expectRoot() throws(VaultError) {
        guard keys.opensValues else {
            throw VaultError(.wrongPassphrase, "changing slots needs the values open")
        }
    }

    private func position(ofSlot id: Identifier) throws(VaultError) -> Int {
        guard let position = slots.firstIndex(where: { $0.id == id }) else {
            throw VaultError(.slotsChanged, "the slot was removed meanwhile")
        }
        return position
    }
}

extension VaultHeader {
    /// Checks that one more slot of a kind fits.
    ///
    /// - Throws: ``VaultError/Code/tooLarge``.
    package static func checkRoom(
        for kind: KeySlot.Kind, among slots: [KeySlot]
    ) throws(VaultError) {
        guard slots.count < VaultFormat.slotLimit else {
            throw VaultError(.tooLarge, "a vault has at most \(VaultFormat.slotLimit) slots")
        }
        let passphrases = slots.count { $0.kind == .passphrase }
        guard kind != .passphrase || passphrases < VaultFormat.passphraseSlotLimit else {
            throw VaultError(
                .tooLarge, "a vault has at most \(VaultFormat.passphraseSlotLimit) passphrases")
        }
    }

    /// Checks that the vault can still be opened by a person without `slot`.
    ///
    /// - Throws: ``VaultError/Code/lastSlot``.
    package static func checkRemoval(
        of slot: KeySlot, among slots: [KeySlot]
    ) throws(VaultError) {
        let rest = slots.filter { $0.id != slot.id }
        guard rest.contains(where: { $0.tier == .values }) else {
            throw VaultError(.lastSlot, "this is the last slot that opens the values")
        }
        guard rest.contains(where: { $0.isForPeople }) else {
            throw VaultError(
                .lastSlot,
                "this is the last passphrase or recovery code, and one stays: whatever else opens the "
                    + "vault can be lost with a machine")
        }
    }
}

extension KeySlot {
    /// Tells whether a person can open the values with it from memory or paper.
    package var isForPeople: Bool {
        tier == .values && (kind == .passphrase || kind == .recovery)
    }
}

extension VaultKeys {
    /// Makes a slot that a passphrase opens. Takes the time and memory that `cost` says.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package func passphraseSlot(
        _ passphrase: borrowing SecretBytes, cost: PassphraseCost, vault: Identifier,
        at time: UInt64
    ) throws(VaultError) -> KeySlot {
        let salt = Random.bytes(PassphraseDerivation.saltByteCount)
        let wrappingKey = try guarding { () throws(SealingError) in
            try PassphraseDerivation.deriveKey(from: passphrase, salt: salt, cost: cost)
        }
        return try slot(
            .passphrase, .values, under: wrappingKey, cost: cost, salt: salt, vault, time)
    }

    /// Makes a slot that a recovery code opens.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package func recoverySlot(
        _ code: RecoveryCode, vault: Identifier, at time: UInt64
    ) throws(VaultError) -> KeySlot {
        let salt = Random.bytes(PassphraseDerivation.saltByteCount)
        return try slot(
            .recovery, .values, under: try code.wrappingKey(salt: salt), cost: nil, salt: salt,
            vault, time)
    }

    /// Makes a slot that 32 random bytes open, which a keyring or a file keeps.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` for the value tier while the values are locked.
    package func storedKeySlot(
        _ kind: KeySlot.Kind, _ tier: KeySlot.Tier, slotKey: borrowing SecretBytes,
        vault: Identifier, at time: UInt64
    ) throws(VaultError) -> KeySlot {
        try slot(
            kind, tier, under: slotKey, cost: nil, salt: [UInt8](repeating: 0, count: 16), vault,
            time)
    }

    private func slot(
        _ kind: KeySlot.Kind, _ tier: KeySlot.Tier, under wrappingKey: borrowing SecretBytes,
        cost: PassphraseCost?, salt: [UInt8], _ vault: Identifier, _ time: UInt64
    ) throws(VaultError) -> KeySlot {
        let blank = KeySlot.Blank(
            kind: kind, tier: tier, cost: cost, salt: salt, vault: vault, createdAt: time)
        switch tier {
        case .index: return blank.wrapping(index.bytes, under: wrappingKey)
        case .values:
            guard let slot = root?.wrapped(in: blank, under: wrappingKey) else {
                throw VaultError(.wrongPassphrase, "a new slot needs the values open")
            }
            return slot
        }
    }
}

extension RootKey {
    fileprivate borrowing func wrapped(
        in blank: KeySlot.Blank, under wrappingKey: borrowing SecretBytes
    ) -> KeySlot {
        blank.wrapping(bytes, under: wrappingKey)
    }
}

extension KeySlot {
    /// A slot before a key is in it.
    fileprivate struct Blank {
        let kind: Kind
        let tier: Tier
        let cost: PassphraseCost?
        let salt: [UInt8]
        let vault: Identifier
        let createdAt: UInt64

        func wrapping(
            _ key: borrowing SecretBytes, under wrappingKey: borrowing SecretBytes
        ) -> KeySlot {
            KeySlot.wrapping(
                key, under: wrappingKey, vault: vault, id: .random(), kind: kind, tier: tier,
                cost: cost, salt: salt, createdAt: createdAt)
        }
    }
}
