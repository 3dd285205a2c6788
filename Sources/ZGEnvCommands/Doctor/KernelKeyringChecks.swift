internal import KernelKeyring

/// Checks the kernel keyrings, which `unlock` needs.
enum KernelKeyringChecks {
    static func findings() -> [Finding] {
        [finding(.user, problem(.user)), finding(.session, problem(.session))]
    }

    private static func problem(_ scope: UnlockScope) -> KernelKeyringError? {
        do throws(KernelKeyringError) {
            try UnlockCache.check(scope)
            return nil
        } catch { return error }
    }

    static func finding(_ scope: UnlockScope, _ problem: KernelKeyringError?) -> Finding {
        let check = scope == .user ? "kernel-keyring" : "session-keyring"
        guard let problem else {
            return Finding(
                check, .ok,
                scope == .user
                    ? "The kernel keyring works."
                    : "This login session has its own session keyring.")
        }
        let remedy =
            switch problem.code {
            case .noSession, .sessionEnded:
                "Log in again, or unlock for all sessions: zg-env unlock --scope user"
            case .unavailable:
                "zg-env unlock does not work on this system. Enter the passphrase each time, for "
                    + "example with --passphrase-file."
            case .full: "See what uses the space: keyctl show @u"
            case .notThere, .failed: "Inspect the keyring with: keyctl show"
            }
        return Finding(
            check, .warning, CommandError.sentence(problem.reason), remedy: remedy)
    }
}
