extension VaultTransaction {
    /// Adds a slot.
    ///
    /// - Throws: ``VaultError/Code/tooLarge`` beyond 16 slots or 4 passphrases.
    package mutating func add(_ slot: KeySlot) throws(VaultError) {
        try VaultHeader.checkRoom(for: slot.kind, among: slots)
        slots.append(slot)
    }

    /// Removes a slot.
    ///
    /// - Throws: ``VaultError/Code/lastSlot`` for the last passphrase or recovery slot,
    ///   ``VaultError/Code/slotsChanged`` if the slot no longer exists.
    package mutating func remove(slot id: Identifier) throws(VaultError) {
        let position = try position(ofSlot: id)
        try VaultHeader.checkRemoval(of: slots[position], among: slots)
        slots.remove(at: position)
    }

    /// Replaces a slot.
    ///
    /// - Throws: ``VaultError/Code/slotsChanged`` if the slot no longer exists.
    package mutating func replace(slot id: Identifier, with slot: KeySlot) throws(VaultError) {
        slots[try position(ofSlot: id)] = slot
    }

    private func position(ofSlot id: Identifier) throws(VaultError) -> Int {
        guard let position = slots.firstIndex(where: { $0.id == id }) else {
            throw VaultError(.slotsChanged, "the slot was removed while the command was running")
        }
        return position
    }
}

extension VaultHeader {
    /// Checks that there is room for another slot of a kind.
    ///
    /// - Throws: ``VaultError/Code/tooLarge``.
    package static func checkRoom(
        for kind: KeySlot.Kind, among slots: [KeySlot]
    ) throws(VaultError) {
        guard slots.count < VaultFormat.slotLimit else {
            throw VaultError(.tooLarge, "a vault can have at most \(VaultFormat.slotLimit) slots")
        }
        let passphrases = slots.count { $0.kind == .passphrase }
        guard kind != .passphrase || passphrases < VaultFormat.passphraseSlotLimit else {
            throw VaultError(
                .tooLarge, "a vault can have at most \(VaultFormat.passphraseSlotLimit) passphrases"
            )
        }
    }

    /// Checks that a person can still open the vault without `slot`.
    ///
    /// - Throws: ``VaultError/Code/lastSlot``.
    package static func checkRemoval(
        of slot: KeySlot, among slots: [KeySlot]
    ) throws(VaultError) {
        let rest = slots.filter { $0.id != slot.id }
        guard rest.contains(where: { $0.tier == .values }) else {
            throw VaultError(.lastSlot, "this is the last slot that opens the values")
        }
        guard rest.contains(where: { $0.isForHumans }) else {
            throw VaultError(
                .lastSlot,
                "this is the last passphrase or recovery code, and one of these must remain")
        }
    }
}
