internal import SystemFiles
internal import Vault

/// Lets one process at a time work on a rotation, for this vault on this machine. The kernel ends it
/// with the process.
///
/// The user's commands hold it too: where this process is killed, one that still runs could teach a value
/// after another process has gone on.
final class RotationLock {
    private let lock: FileLock

    /// For the user's commands.
    var descriptor: Int32 { lock.file.descriptor }

    /// - Throws: ``ExitCode/conflict`` when another process works on it.
    init(_ rotation: Identifier, key: String, besides vaultPath: String) throws {
        do {
            lock = try FileLock.ofVault(vaultPath, for: rotation)
            guard try lock.tryLock() else {
                throw CommandError(
                    .conflict,
                    "Another process works on the rotation of \(key), or a command of it still runs.",
                    hint: "Let it end. Look at it with: zg-env rotate --status")
            }
        } catch let error as SystemError {
            throw FileLock.failure(vaultPath, error)
        }
    }

    deinit {
        // What a command started in the background is no part of the rotation.
        lock.unlock()
    }
}
