internal import Sealing
internal import Vault

/// Recreates slots with new keys. The keyring and the key file get the new keys before the vault file
/// is replaced, and lose the old ones after it.
struct SlotRenewal {
    private let workspace: Workspace
    private let vaultID: Identifier
    private let keys: VaultKeys
    /// The slots created so far.
    private(set) var slots: [KeySlot] = []

    init(_ workspace: Workspace, _ vaultID: Identifier, _ keys: VaultKeys) {
        self.workspace = workspace
        self.vaultID = vaultID
        self.keys = keys
    }

    mutating func renew(_ entry: SlotRenewalPlan.Kept) throws {
        let time = workspace.context.now()
        switch entry.slot.kind {
        case .passphrase:
            guard let secret = entry.secret else { return }
            slots.append(
                try keys.passphraseSlot(
                    secret.bytes, cost: entry.slot.cost ?? .moderate, vault: vaultID, at: time))
        case .recovery:
            guard let secret = entry.secret,
                let code = try RecoveryCode(reading: secret.bytes)
            else { return }
            slots.append(try keys.recoverySlot(code, vault: vaultID, at: time))
        case .secretService, .file:
            let key = try SecretBytes.random(count: 32)
            let slot = try keys.storedKeySlot(
                entry.slot.kind, entry.slot.tier, slotKey: key, vault: vaultID, at: time)
            // Listed first, so that a failure also removes a key that is half stored.
            slots.append(slot)
            try keep(key, of: slot)
        }
    }

    private func keep(_ key: borrowing SecretBytes, of slot: KeySlot) throws {
        if slot.kind == .secretService {
            guard let keyring = workspace.context.keyring() else {
                throw KeyringError(.noBus, "the keyring is no longer available")
            }
            try keyring.storeVerified(key, for: slot.keyringItem(vault: vaultID))
        } else if let path = workspace.options.keyFile {
            try KeyFile.locked(path) {
                try KeyFile(reading: path).add(key, of: slot.id, vault: vaultID)
                try KeyFile.check(path, for: key, of: slot.id, vault: vaultID)
            }
        }
    }

    /// Removes the new keys after a failure before the new file was in place.
    func removeNewKeys() {
        remove(slots)
    }

    /// Removes the keys of the old slots, once the new file is in place.
    func removeOldKeys(_ plan: SlotRenewalPlan) {
        let keyFileSlots = plan.kept.map(\.slot).filter { $0.kind == .file }
        let inKeyring = (plan.kept.map(\.slot) + plan.removed.map(\.slot))
            .filter { $0.kind == .secretService }
        // Without a keyring, do not warn about its keys.
        remove(keyFileSlots + (workspace.context.keyring() == nil ? [] : inKeyring))
        if !inKeyring.isEmpty {
            workspace.session.removeUnusedGuard(of: vaultID, slots: slots)
        }
    }

    private func remove(_ old: [KeySlot]) {
        workspace.removeKeyringItems(
            of: old.filter { $0.kind == .secretService }, vault: vaultID)
        guard let path = workspace.options.keyFile else { return }
        do {
            for slot in old where slot.kind == .file {
                try KeyFile.locked(path) {
                    try KeyFile(reading: path).remove(slot.id, vault: vaultID)
                }
            }
        } catch {
            workspace.context.warn(
                "orphan-key", "An unused key could not be removed from \(path).")
        }
    }
}
