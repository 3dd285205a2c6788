internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import Vault

/// Lets one process at a time work on a rotation, for this vault on this machine. The kernel ends it
/// with the process.
final class RotationLock {
    private let descriptor: Int32

    /// - Throws: ``ExitCode/conflict`` when another process works on it.
    init(_ rotation: Identifier, key: String, besides vaultPath: String) throws {
        let path = vaultPath + ".push.lock"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw CommandError(
                .failed, "The lock \(DisplayText.safe(path)) cannot be taken: \(reason).")
        }
        let offset = rotation.bytes.prefix(7).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard zg_try_lock_byte(descriptor, offset) == 0 else {
            close(descriptor)
            throw CommandError(
                .conflict,
                "Another process works on the rotation of \(DisplayText.safe(key)).",
                hint: "Let it end. Look at it with: zg-env rotate --status")
        }
    }

    deinit { close(descriptor) }
}
