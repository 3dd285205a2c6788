internal import CommandLineKit
internal import JSON
internal import KernelKeyring
internal import Vault

/// The scope and the end of an unlock that this process can use.
struct UnlockedState: Equatable {
    let scope: UnlockScope
    /// Seconds since 1970.
    let endsAt: UInt64

    /// Returns the keys of an unlocked vault from the kernel, after checking that the file descends from
    /// the one that was unlocked.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: nil if the vault is locked, the kernel has no keyrings for us, or the vault was written
    ///   so often since that the check is impossible; then the passphrase is needed.
    /// - Throws: ``ExitCode/damaged`` for an older copy, or one with a different history.
    static func keys(
        of vault: Vault, now: UInt64
    ) throws -> (keys: VaultKeys, state: UnlockedState)? {
        guard let found = try? UnlockCache(of: vault).find(now: now) else { return nil }
        let position = found.position
        let state = UnlockedState(scope: found.scope, endsAt: found.endsAt)
        do throws(VaultError) {
            let keys = try vault.unlock(root: found.takeRoot())
            return try vault.follows(position, with: keys) ? (keys, state) : nil
        } catch {
            guard error.code == .damaged else { throw error }
            throw RollbackVerdict.failure(error)
        }
    }

    /// Returns the position of the vault when it was unlocked; nil if it is locked for this process.
    ///
    /// - Parameter now: Seconds since 1970.
    static func position(of vault: Vault, now: UInt64) -> VaultPosition? {
        try? UnlockCache(of: vault).find(now: now)?.position
    }

    /// The remaining time and the scope, as in "for 15m, in this session".
    func text(now milliseconds: UInt64) -> String {
        let seconds = secondsLeft(milliseconds)
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        let left =
            switch seconds {
            case ..<120: "\(seconds)s"
            case ..<3_600: "\(minutes)m"
            default: minutes == 0 ? "\(hours)h" : "\(hours)h \(minutes)m"
            }
        return "for \(left), \(scope == .session ? "in this session" : "in all sessions")"
    }

    static let fields = "scope: \(oneOf: UnlockScope.self); until: time; seconds: number"

    func json(now milliseconds: UInt64) -> JSONValue {
        [
            "scope": .string(scope.rawValue),
            "until": .time(orNull: Int64(clamping: min(endsAt, 1 << 50) * 1_000)),
            "seconds": .integer(Int64(clamping: secondsLeft(milliseconds))),
        ]
    }

    private func secondsLeft(_ milliseconds: UInt64) -> UInt64 {
        let now = milliseconds / 1_000
        return endsAt > now ? endsAt - now : 0
    }
}

extension UnlockCache {
    /// The cache for the current file of a vault.
    init(of vault: Vault) {
        self.init(vault: vault.header.vaultID, epoch: vault.header.indexEpoch)
    }
}

extension CommandError {
    /// The error for a vault that cannot be kept unlocked.
    init(mapping error: KernelKeyringError) {
        let reason = Self.sentence(error.reason)
        switch error.code {
        case .unavailable:
            self.init(
                .failed, reason,
                hint: "This machine cannot keep a vault unlocked. Enter the passphrase each time, "
                    + "for example with --passphrase-file.")
        case .noSession, .sessionEnded:
            self.init(
                .usage, reason,
                hint:
                    "Run: zg-env unlock --scope user (shared by all your sessions, cron jobs and user services)"
            )
        case .full, .notThere, .failed:
            self.init(.failed, reason, hint: "Run the command again.")
        }
    }
}
