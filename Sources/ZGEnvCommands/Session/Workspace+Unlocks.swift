internal import KernelKeyring
internal import Vault

extension Workspace {
    /// Locks a vault in all sessions, after a change of its keys or slots.
    ///
    /// Does nothing if the kernel has no keyrings for us.
    func lockAllSessions(of vault: Identifier) throws {
        let wasUnlocked: Bool
        do throws(KernelKeyringError) {
            wasUnlocked = try UnlockCache.lock(vault)
        } catch {
            guard error.code != .unavailable else { return }
            context.warn(
                "still-unlocked",
                "The vault could not be locked. " + CommandError.sentence(error.reason))
            return
        }
        if wasUnlocked { note("The vault is now locked.") }
    }
}
