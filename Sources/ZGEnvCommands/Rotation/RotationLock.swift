internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import Vault

/// Lets one process at a time work on a rotation, for this vault on this machine. The kernel ends it
/// with the process.
///
/// The user's commands hold it too: where this process is killed, one that still runs could teach a value
/// after another process has gone on.
final class RotationLock {
    /// For the user's commands; never below 10.
    let descriptor: Int32
    private let offset: Int64

    /// - Throws: ``ExitCode/conflict`` when another process works on it.
    init(_ rotation: Identifier, key: String, besides vaultPath: String) throws {
        let path = vaultPath + ".push.lock"
        let opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        descriptor = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, 10)
        if opened >= 0 { close(opened) }
        offset = rotation.bytes.prefix(7).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw CommandError(
                .failed, "The lock \(DisplayText.safe(path)) cannot be taken: \(reason).")
        }
        guard zg_try_lock_byte(descriptor, offset) == 0 else {
            close(descriptor)
            throw CommandError(
                .conflict,
                "Another process works on the rotation of \(DisplayText.safe(key)), or a command of it still runs.",
                hint: "Let it end. Look at it with: zg-env rotate --status")
        }
    }

    deinit {
        // What a command started in the background is no part of the rotation.
        zg_unlock_byte(descriptor, offset)
        close(descriptor)
    }
}
