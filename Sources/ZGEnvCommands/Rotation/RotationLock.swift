internal import SystemFiles
internal import Vault

/// A lock that lets one process at a time work on a rotation of a vault. The kernel releases it when
/// the process ends.
///
/// The user's commands inherit it: if this process is killed, a command that still runs could install a
/// value after another process has continued the rotation.
final class RotationLock {
    private let lock: FileLock

    /// The descriptor that the user's commands inherit.
    var descriptor: Int32 { lock.file.descriptor }

    /// - Throws: ``ExitCode/conflict`` if another process has the lock.
    init(_ rotation: RotationEntry, _ workspace: Workspace) throws {
        let path = workspace.session.path
        do {
            lock = try FileLock.ofVault(path, for: rotation.id)
            guard try lock.tryLock() else {
                throw CommandError(
                    .conflict,
                    "Another process is working on the rotation of \(rotation.plan.key), or a command of that rotation is still running.",
                    hint: "Wait until that process ends. Show the rotation with: zg-env rotate "
                        + "--status")
            }
        } catch let error as SystemError {
            throw FileLock.failure(path, error)
        }
    }

    deinit {
        // Background processes of a command inherit the lock and must not keep it.
        lock.unlock()
    }
}
