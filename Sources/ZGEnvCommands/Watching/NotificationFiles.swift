internal import EnvOperations
internal import PostalDevice
internal import SystemFiles
internal import Vault

/// The encrypted files with notification data of a vault in the state directory: the choices and
/// the progress of watching. Choices change under a lock; progress belongs to the vault's one
/// `notify run`.
struct NotificationFiles {
    let choicesPath: String
    private let progressPath: String
    private let lockPath: String
    private let inboxPath: String
    private let relayLockPath: String
    private let sealing: WatchSealing
    private let files: any FileStore

    /// - Parameter keys: Any keys that open the index.
    init(_ workspace: Workspace, keys: VaultKeys) throws {
        let vault = try workspace.session.opened().header.vaultID
        let base = try Directories(workspace.context).state + "/\(vault.hexadecimal)"
        choicesPath = base + ".notify"
        progressPath = base + ".notify-progress"
        lockPath = base + ".notify-run.lock"
        inboxPath = base + ".relay-progress"
        relayLockPath = base + ".relay-run.lock"
        sealing = try WatchSealing(key: try keys.derivedKey(for: .notifications), vault: vault)
        files = workspace.context.files
    }

    /// Returns the choices; empty if none were ever saved.
    ///
    /// - Throws: ``ExitCode/damaged`` for a file that cannot be decrypted, which never counts as
    ///   empty.
    func choices() throws -> NotificationChoices {
        guard let bytes = try bytes(of: choicesPath) else { return NotificationChoices() }
        guard let found: NotificationChoices = sealing.open(bytes, as: .choices) else {
            throw CommandError(
                .damaged,
                "Cannot decrypt \(choicesPath) with this vault's keys: it was modified, or the vault was rekeyed elsewhere.",
                hint: "Delete the file, then choose notifications again with: zg-env notify set")
        }
        return found
    }

    /// Changes the choices under their lock.
    func updateChoices<R>(_ body: (inout NotificationChoices) throws -> R) throws -> R {
        try files.prepareDirectory(of: choicesPath)
        return try files.withLock(choicesPath) {
            var choices = try choices()
            let before = choices
            let result = try body(&choices)
            if choices != before { try write(choices, .choices, to: choicesPath) }
            return result
        }
    }

    /// Returns the progress of watching.
    ///
    /// - Returns: nil if none was saved or it cannot be decrypted.
    func progress() throws -> (progress: WatchProgress?, isUnreadable: Bool) {
        guard let bytes = try bytes(of: progressPath) else { return (nil, false) }
        let found = sealing.open(bytes, as: .progress, WatchProgress.self)
        guard let found, found.isPlausible else { return (nil, true) }
        return (found, false)
    }

    /// Saves the progress. Requires the run lock.
    func keep(_ progress: WatchProgress) throws {
        try files.prepareDirectory(of: progressPath)
        try write(progress, .progress, to: progressPath)
    }

    /// Saves choices and progress that were read with the vault's previous keys.
    func takeOver(_ choices: NotificationChoices?, _ progress: WatchProgress?) throws {
        if let choices, !choices.choices.isEmpty {
            try files.withLock(choicesPath) { try write(choices, .choices, to: choicesPath) }
        }
        if let progress { try keep(progress) }
    }

    /// Returns how far each relay's events were read, by the registration's id; empty if nothing
    /// was saved or it cannot be decrypted: repeated events are recognized later.
    func inboxes() throws -> [String: PostalInbox] {
        guard let bytes = try bytes(of: inboxPath) else { return [:] }
        return sealing.open(bytes, as: .postal) ?? [:]
    }

    /// Saves how far events were read. Requires ``relayLock()``.
    func keep(_ inboxes: [String: PostalInbox]) throws {
        try files.prepareDirectory(of: inboxPath)
        try write(inboxes, .postal, to: inboxPath)
    }

    /// Takes the lock of the process that reads the events of this vault's relays: a relay has one
    /// stream per device.
    func relayLock() throws -> RunLock {
        try RunLock(path: relayLockPath, files) { holder in
            CommandError(.conflict, "Another process is reading the relay's events\(holder).")
        }
    }

    private func bytes(of path: String) throws -> [UInt8]? {
        do throws(VaultError) {
            let file = try files.open(path)
            guard file.byteCount <= UInt64(WatchSealing.byteLimit) else { return [] }
            return try file.read(at: 0, count: Int(file.byteCount))
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    private func write(
        _ value: some Encodable, _ content: WatchSealing.Content, to path: String
    ) throws {
        guard let bytes = sealing.seal(value, as: content) else {
            throw CommandError(.failed, "The notification data is too large to save.")
        }
        try files.replace(path, with: [.bytes(bytes)])
    }

    /// The lock of this vault's one `notify run`. The kernel releases it with the process.
    final class RunLock {
        private let lock: FileLock

        /// - Throws: ``ExitCode/conflict`` if another one is running.
        convenience init(_ files: NotificationFiles) throws {
            try self.init(path: files.lockPath, files.files) { holder in
                CommandError(
                    .conflict, "Another notify run is already running for this vault\(holder).",
                    hint: "Stop it first with: systemctl --user stop zg-env-notify, or kill it.")
            }
        }

        /// - Parameter taken: Creates the error if another process holds the lock, from " (process
        ///   N)" or "".
        init(path: String, _ files: any FileStore, taken: (String) -> CommandError) throws {
            try files.prepareDirectory(of: path)
            do {
                lock = try FileLock(path)
                guard try lock.tryLock() else {
                    throw taken(lock.holder.map { " (process \($0))" } ?? "")
                }
            } catch let error as SystemError {
                throw CommandError(
                    .failed, "Cannot lock \(path): \(error.reason).")
            }
            lock.writeHolder()
        }
    }
}

extension NotificationChoices.Scope {
    /// The scope of a linked vault project.
    init(_ binding: VaultProject.Binding) {
        self.init(
            origin: binding.origin, accountID: binding.accountID, teamID: binding.teamID)
    }
}

/// Notification data that is re-encrypted when the vault gets new keys.
struct SavedNotifications {
    private let choices: NotificationChoices?
    private let progress: WatchProgress?

    /// Reads the data with the old keys.
    init(_ workspace: Workspace, _ keys: VaultKeys) {
        let files = try? NotificationFiles(workspace, keys: keys)
        choices = try? files?.choices()
        progress = (try? files?.progress())?.progress
    }

    /// Saves the data under the new keys. A failure is only a warning, since the vault already uses
    /// them.
    func keep(under keys: VaultKeys, _ workspace: Workspace) {
        do {
            try NotificationFiles(workspace, keys: keys).takeOver(choices, progress)
        } catch {
            workspace.context.warn(
                "notifications-lost",
                "The notification choices could not be saved under the new keys. Choose them again with: zg-env notify set"
            )
        }
    }
}
