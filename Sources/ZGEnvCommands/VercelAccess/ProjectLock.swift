internal import CommandLineKit
internal import Glibc
internal import SystemFiles
internal import Vault

/// Lets one push of a project run at a time, for this vault on this machine, and no pull apply its plan
/// beside it: the second one would plan with what the first is about to change.
///
/// Not the vault's lock, which nobody holds over the network. The kernel ends it with the process.
final class ProjectLock {
    private let lock: FileLock

    /// How long to wait for the other one.
    static let limit: Duration = .seconds(60)

    /// Waits for the lock; a signal ends the waiting.
    ///
    /// - Throws: ``ExitCode/conflict`` when the other one does not end in time.
    init(_ project: VaultProject, besides vaultPath: String, _ workspace: Workspace) throws {
        do {
            lock = try FileLock.ofVault(vaultPath, for: project.id)
            if try lock.tryLock() { return }
            workspace.note(
                "Another push or pull of \(project.name) is under way; waiting for it.")
            let isTaken = try lock.lock(within: Self.limit, pauses: 20_000...20_000) { pause in
                workspace.session.turns.away { _ = usleep(pause) }
            }
            guard isTaken else {
                throw CommandError(
                    .conflict,
                    "Another push or pull of \(project.name) has not ended for \(DurationText.text(Self.limit)).",
                    hint: "Nothing was changed. Let it end, then run this again.")
            }
        } catch let error as SystemError {
            throw FileLock.failure(vaultPath, error)
        }
    }
}

extension FileLock {
    /// The lock of one object of a vault, on this machine: a byte of a file beside the vault's. Two that share
    /// one only wait for each other.
    static func ofVault(_ path: String, for object: Identifier) throws(SystemError) -> FileLock {
        let file = try OpenFile(path + ".push.lock", O_RDWR | O_CREAT | O_NOFOLLOW)
        // A command of a rotation gets it beside the descriptors that it has for itself.
        return FileLock(
            on: try file.duplicate(notBelow: 10),
            byte: object.bytes.prefix(7).reduce(0) { $0 << 8 | Int64($1) })
    }

    static func failure(_ vaultPath: String, _ error: SystemError) -> CommandError {
        CommandError(
            .failed,
            "The lock \(vaultPath).push.lock cannot be taken: \(error.reason).",
            hint: "Nothing was changed.")
    }
}
