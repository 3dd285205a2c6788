internal import CommandLineKit
internal import JSON
internal import KernelKeyring
internal import Vault

/// That a vault is unlocked for this process: for whom else, and until when.
struct UnlockedState: Equatable {
    let scope: UnlockScope
    /// Seconds since 1970.
    let endsAt: UInt64

    /// Takes the keys of an unlocked vault from the kernel, once the file was held against what was
    /// unlocked.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: nil where the vault is locked or the kernel has no keyrings for us. Also where it
    ///   was written so often since that it does not remember what was unlocked: then the passphrase
    ///   decides.
    /// - Throws: ``ExitCode/damaged`` for an older copy, or one of another history.
    static func keys(
        of vault: Vault, now: UInt64
    ) throws -> (keys: VaultKeys, state: UnlockedState)? {
        let found: UnlockedRoot?
        do throws(KernelKeyringError) {
            found = try UnlockCache(of: vault).find(now: now)
        } catch { return nil }
        guard let found else { return nil }
        let position = found.position
        let state = UnlockedState(scope: found.scope, endsAt: found.endsAt)
        do throws(VaultError) {
            let keys = try vault.unlock(root: found.takeRoot())
            switch try vault.continuity(since: position, with: keys) {
            case .follows: return (keys, state)
            case .unknown: return nil
            }
        } catch {
            guard error.code == .damaged else { throw error }
            throw CommandError(
                .damaged, CommandError.sentence(error.reason),
                hint: AnchorVerdict.remedy)
        }
    }

    /// Where the vault stood when it was unlocked; nil where it is not unlocked for this process.
    ///
    /// - Parameter now: Seconds since 1970.
    static func position(of vault: Vault, now: UInt64) -> VaultPosition? {
        do throws(KernelKeyringError) {
            return try UnlockCache(of: vault).find(now: now)?.position
        } catch { return nil }
    }

    /// What is left of the time, as people read it.
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

    /// `{"scope","until","seconds"}`.
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
    /// The cache of a vault as its file stands.
    init(of vault: Vault) {
        self.init(vault: vault.header.vaultID, epoch: vault.header.indexEpoch)
    }
}

extension CommandError {
    /// Why the values cannot be kept unlocked, and what to do instead.
    init(mapping error: KernelKeyringError) {
        let reason = Self.sentence(error.reason)
        switch error.code {
        case .unavailable:
            self.init(
                .failed, reason,
                hint: "Nothing can be kept unlocked here. Give the passphrase each time, "
                    + "for example with --passphrase-file.")
        case .noSession, .sessionEnded:
            self.init(
                .usage, reason,
                hint: "Nothing was unlocked. Say zg-env unlock --scope user: it opens the values "
                    + "to all your logins, cron and user units.")
        case .full, .notThere, .failed:
            self.init(.failed, reason, hint: "Nothing was unlocked or locked; try again.")
        }
    }
}
