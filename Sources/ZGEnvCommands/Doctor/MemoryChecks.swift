internal import CLinux
internal import Glibc
internal import Sealing
internal import Vault

/// Checks that secrets stay in memory (locked pages, no core dumps) and that a passphrase check fits.
enum MemoryChecks {
    /// The bytes of guarded memory to try: more than any command but the largest export needs.
    private static let tried = 1 << 20

    static func findings(vault: Vault?) -> [Finding] {
        let before = SecretMemory.unlockedCount
        // Freed at once; only whether the kernel locked it matters.
        let isThere = (try? SecretBytes(count: tried)) != nil
        let isLocked = SecretMemory.unlockedCount == before
        var limit = rlimit()
        let known = unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0
        var core = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
        let cost = vault?.header.slots.compactMap { $0.cost?.memoryByteCount }.max()
        return [
            memoryLock(
                isThere: isThere, isLocked: isLocked, limit: known ? UInt64(limit.rlim_cur) : nil),
            coreDumps(isDumpable: zg_is_dumpable() != 0, limit: UInt64(core.rlim_cur)),
            passphraseMemory(cost: cost, available: AvailableMemory.byteCount()),
        ]
    }

    static func memoryLock(isThere: Bool, isLocked: Bool, limit: UInt64?) -> Finding {
        let check = "memory-lock"
        guard isThere else {
            return Finding(
                check, .failed, "Cannot allocate 1 MiB of guarded memory.",
                remedy: "Close other programs, or raise the memory limit.")
        }
        let text =
            limit.map { $0 >= 1 << 60 ? "no limit" : "a limit of \($0 >> 10) KiB" }
            ?? "an unknown limit"
        guard isLocked else {
            return Finding(
                check, .warning,
                "The kernel does not lock guarded memory (\(text)), so it may be swapped out.",
                remedy: "Raise the limit: ulimit -l, LimitMEMLOCK= in a unit, or memlock in "
                    + "limits.conf.")
        }
        return Finding(check, .ok, "Guarded memory is kept out of swap (\(text)).")
    }

    static func coreDumps(isDumpable: Bool, limit: UInt64) -> Finding {
        isDumpable || limit > 0
            ? Finding(
                "core-dumps", .failed, "Core dumps of zg-env could not be disabled.",
                remedy: "Disable core dumps before you run zg-env: ulimit -c 0")
            : Finding("core-dumps", .ok, "Core dumps and tracing of zg-env are disabled.")
    }

    static func passphraseMemory(cost: UInt64?, available: UInt64?) -> Finding {
        let check = "passphrase-memory"
        guard let cost else {
            return Finding(check, .skipped, "There is no passphrase to check.")
        }
        guard let available else {
            return Finding(check, .skipped, "The amount of available memory is unknown.")
        }
        let text =
            "Checking a passphrase requires \(cost >> 20) MiB; \(available >> 20) MiB is available"
        guard cost <= available else {
            return Finding(
                check, .failed, text + ".",
                remedy: "Close other programs, or raise the memory limit of the container.")
        }
        return Finding(check, .ok, text + ".")
    }
}
