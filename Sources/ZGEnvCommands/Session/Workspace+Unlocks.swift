internal import KernelKeyring
internal import Vault

extension Workspace {
    /// Ends every unlock of a vault, after a change that makes what they keep wrong or unwanted.
    ///
    /// Where the kernel has no keyrings for us nothing is kept from here.
    func endUnlocks(of vault: Identifier) throws {
        let wasUnlocked: Bool
        do throws(KernelKeyringError) {
            wasUnlocked = try UnlockCache.lock(vault)
        } catch {
            guard error.code != .unavailable else { return }
            context.warn(
                "still-unlocked",
                "What unlock keeps could not be ended: " + CommandError.sentence(error.reason))
            return
        }
        if wasUnlocked { note("It was unlocked, and is locked now.") }
    }
}
