internal import CommandLineKit
internal import Glibc
internal import SystemFiles
internal import Vault

/// Allows one push of a project at a time, for this vault on this machine, and no pull to apply its
/// plan meanwhile: the second one would plan with outdated data.
///
/// Separate from the vault's lock, which is never held during network requests. The kernel releases
/// it with the process.
final class ProjectLock {
    private let lock: FileLock

    /// How long to wait for another holder.
    static let limit: Duration = .seconds(60)

    /// Waits for the lock; a signal interrupts it.
    ///
    /// - Throws: ``ExitCode/conflict`` if the other holder does not finish in time.
    init(_ project: VaultProject, besides vaultPath: String, _ workspace: Workspace) throws {
        do {
            lock = try FileLock.ofVault(vaultPath, for: project.id)
            if try lock.tryLock() { return }
            workspace.note(
                "Waiting for another push or pull of \(project.name) to finish.")
            let isTaken = try lock.lock(within: Self.limit, pauses: 20_000...20_000) { pause in
                workspace.session.turns.away { _ = usleep(pause) }
            }
            guard isTaken else {
                throw CommandError(
                    .conflict,
                    "Another push or pull of \(project.name) is still running after \(DurationText.text(Self.limit)).",
                    hint: "Wait until that push or pull finishes, then run the command again.")
            }
        } catch let error as SystemError {
            throw FileLock.failure(vaultPath, error)
        }
    }
}

extension FileLock {
    /// Returns the lock of one object of a vault on this machine: one byte of a file beside the
    /// vault. Objects that share a byte merely wait for each other.
    static func ofVault(_ path: String, for object: Identifier) throws(SystemError) -> FileLock {
        let file = try OpenFile(path + ".push.lock", O_RDWR | O_CREAT | O_NOFOLLOW)
        // Descriptors below 10 stay free: a rotation's commands inherit this one beside their own.
        return FileLock(
            on: try file.duplicate(notBelow: 10),
            byte: object.bytes.prefix(7).reduce(0) { $0 << 8 | Int64($1) })
    }

    static func failure(_ vaultPath: String, _ error: SystemError) -> CommandError {
        CommandError(
            .failed,
            "Cannot lock \(vaultPath).push.lock: \(error.reason).")
    }
}
