internal import CommandLineKit
internal import KernelKeyring
internal import Vault

/// Stores a vault's root key in the kernel keyring and checks that another process can read it.
enum UnlockCaching {
    /// - Parameters:
    ///   - position: The position of the vault file, authenticated with the keys.
    /// - Returns: False if a second process could not read the key back; then nothing is kept.
    static func keep(
        _ keys: VaultKeys, of vault: Vault, at position: VaultPosition, seconds: UInt32,
        scope: UnlockScope, _ workspace: Workspace
    ) throws -> Bool {
        let cache = UnlockCache(of: vault)
        let now = workspace.context.now() / 1_000
        // An interruption in between would leave the vault unlocked without a message.
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
