internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import Vault

/// Lets one push of a project run at a time, for this vault on this machine, and no pull apply its plan
/// beside it: the second one would plan with what the first is about to change.
///
/// Not the vault's lock, which nobody holds over the network. The kernel ends it with the process.
final class ProjectLock {
    private let descriptor: Int32

    /// How long to wait for the other one.
    static let limit: Duration = .seconds(60)

    /// Waits for the lock; a signal ends the waiting.
    ///
    /// - Throws: ``ExitCode/conflict`` when the other one does not end in time.
    init(_ project: VaultProject, besides vaultPath: String, _ invocation: Invocation) throws {
        let path = vaultPath + ".push.lock"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
        // One byte of the file for each project: two that share one only wait for each other.
        let offset = project.id.bytes.prefix(7).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let end = ContinuousClock.now + Self.limit
        var hasSaid = false
        while zg_try_lock_byte(descriptor, offset) != 0 {
            guard [EAGAIN, EACCES, EINTR].contains(errno) else {
                let error = Self.failure(path)
                close(descriptor)
                throw error
            }
            guard ContinuousClock.now < end else {
                close(descriptor)
                throw CommandError(
                    .conflict,
                    "Another push or pull of \(DisplayText.safe(project.name)) has not ended for \(DurationText.text(Self.limit)).",
                    hint: "Nothing was changed. Let it end, then run this again.")
            }
            if !hasSaid {
                try invocation.note(
                    "Another push or pull of \(project.name) is under way; waiting for it.")
                hasSaid = true
            }
            invocation.session.turns.away { _ = usleep(20_000) }
        }
    }

    deinit { close(descriptor) }

    private static func failure(_ path: String) -> CommandError {
        let reason = unsafe String(cString: strerror(errno))
        return CommandError(
            .failed, "The lock \(DisplayText.safe(path)) cannot be taken: \(reason).",
            hint: "Nothing was changed.")
    }
}
