internal import Glibc
internal import Vault

/// Checks whether the clock is plausible. Only times in listings and in the log depend on it.
enum ClockChecks {
    /// 2025-01-01, before zg-env existed; in seconds.
    private static let earliest: Int64 = 1_735_689_600
    /// A difference that does not matter, in seconds.
    static let tolerance: Int64 = 60

    static func findings(_ workspace: Workspace, vault: Vault?) -> [Finding] {
        var status = stat()
        let written = vault.flatMap { vault in
            unsafe stat(vault.path, &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil
        }
        return [finding(now: Int64(workspace.context.now() / 1_000), written: written)]
    }

    /// - Parameter written: When the vault was last written, in seconds.
    static func finding(now: Int64, written: Int64?) -> Finding {
        let remedy = "Set the clock, for example with: timedatectl set-ntp true"
        guard now >= earliest else {
            return Finding(
                "clock", .warning, "The clock shows a time before zg-env existed.", remedy: remedy)
        }
        if let written, written > now + tolerance {
            return Finding(
                "clock", .warning,
                "The vault file's timestamp is in the future: the clock is slow, or was fast when the file was written.",
                remedy: remedy)
        }
        return Finding("clock", .ok, "The system clock looks right.")
    }
}
