internal import CommandLineKit
internal import KernelKeyring
internal import Vault

/// Puts what opens a vault into the kernel's keyring for a time, and sees that another process finds it.
enum UnlockCaching {
    /// - Parameters:
    ///   - position: Of the vault's file, proved by the keys.
    /// - Returns: False where a second process could not read the keys back; nothing is kept then.
    static func keep(
        _ keys: VaultKeys, of vault: Vault, at position: VaultPosition, seconds: UInt32,
        scope: UnlockScope, _ workspace: Workspace
    ) throws -> Bool {
        let cache = UnlockCache(of: vault)
        let now = workspace.context.now() / 1_000
        // Interrupted in between, it would be unlocked with nobody told.
        let isReadBack = try Interrupts.deferred {
            try Unlock.mapped { () throws(KernelKeyringError) in
                _ = try keys.withRoot { (root) throws(KernelKeyringError) in
                    try cache.store(
                        root: root, position: position, seconds: seconds, now: now, scope: scope)
                }
            }
            let succeeded = UnlockReadBack.succeeds(workspace) && Interrupts.pending == nil
            if !succeeded { try? cache.remove(scope) }
            return succeeded
        }
        Interrupts.endIfPending()
        return isReadBack
    }
}
