internal import EnvOperations
internal import PostalDevice
internal import SystemFiles
internal import Vault

/// What notifications keep of a vault, in the state directory: what is chosen, and how far the watching
/// has come. Both are sealed. Choices are changed under a lock; progress belongs to the one `notify
/// run` of the vault.
struct NotificationFiles {
    /// What is chosen.
    let choicesPath: String
    private let progressPath: String
    private let lockPath: String
    private let inboxPath: String
    private let relayLockPath: String
    private let sealing: WatchSealing
    private let files: any FileStore

    /// - Parameter keys: Any that open the index.
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

    /// What is chosen; nothing where nothing was ever kept.
    ///
    /// - Throws: ``ExitCode/damaged`` for a file that does not open: it is never taken for "nothing".
    func choices() throws -> NotificationChoices {
        guard let bytes = try bytes(of: choicesPath) else { return NotificationChoices() }
        guard let found: NotificationChoices = sealing.open(bytes, as: .choices) else {
            throw CommandError(
                .damaged,
                "\(choicesPath) does not open with this vault's keys: it was changed, or the vault got new keys elsewhere.",
                hint: "Remove that file, and choose anew with: zg-env notify set")
        }
        return found
    }

    /// Changes what is chosen, while nobody else does.
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

    /// How far the watching has come.
    ///
    /// - Returns: nil where nothing was kept, or what was kept does not open.
    func progress() throws -> (progress: WatchProgress?, isUnreadable: Bool) {
        guard let bytes = try bytes(of: progressPath) else { return (nil, false) }
        let found: WatchProgress? = sealing.open(bytes, as: .progress)
        return (found, found == nil)
    }

    /// Keeps how far the watching has come. Only for the holder of the lock.
    func keep(_ progress: WatchProgress) throws {
        try files.prepareDirectory(of: progressPath)
        try write(progress, .progress, to: progressPath)
    }

    /// Keeps what another pair of keys had kept, under these.
    func takeOver(_ choices: NotificationChoices?, _ progress: WatchProgress?) throws {
        if let choices, !choices.choices.isEmpty {
            try files.withLock(choicesPath) { try write(choices, .choices, to: choicesPath) }
        }
        if let progress { try keep(progress) }
    }

    /// How far the events of each relay were read, by the registration's name; nothing where nothing
    /// was kept, or what was kept does not open: whatever comes again is known to be told once.
    func inboxes() throws -> [String: PostalInbox] {
        guard let bytes = try bytes(of: inboxPath) else { return [:] }
        return sealing.open(bytes, as: .postal) ?? [:]
    }

    /// Keeps how far they were read. Only for the holder of ``relayLock()``.
    func keep(_ inboxes: [String: PostalInbox]) throws {
        try files.prepareDirectory(of: inboxPath)
        try write(inboxes, .postal, to: inboxPath)
    }

    /// Lets one process at a time read the events of this vault's relays: a relay has one stream for
    /// each device.
    func relayLock() throws -> RunLock {
        try RunLock(path: relayLockPath, files) { holder in
            CommandError(.conflict, "Another process reads the relay's events\(holder).")
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
            throw CommandError(.failed, "What notifications keep has become too long.")
        }
        try files.replace(path, with: [.bytes(bytes)])
    }

    /// Lets one `notify run` of this vault run at a time. The kernel ends it with the process.
    final class RunLock {
        private let lock: FileLock

        /// - Throws: ``ExitCode/conflict`` where another one runs.
        convenience init(_ files: NotificationFiles) throws {
            try self.init(path: files.lockPath, files.files) { holder in
                CommandError(
                    .conflict, "Notifications of this vault are told by another process\(holder).",
                    hint: "End that one first: systemctl --user stop zg-env-notify, or kill it.")
            }
        }

        /// - Parameter taken: Makes the error where another process has the lock, from " (process N)" or
        ///   nothing.
        init(path: String, _ files: any FileStore, taken: (String) -> CommandError) throws {
            try files.prepareDirectory(of: path)
            do {
                lock = try FileLock(path)
                guard try lock.tryLock() else {
                    throw taken(lock.holder.map { " (process \($0))" } ?? "")
                }
            } catch let error as SystemError {
                throw CommandError(
                    .failed, "The lock \(path) cannot be taken: \(error.reason).")
            }
            lock.nameHolder()
        }
    }
}

extension NotificationChoices.Scope {
    /// The scope of a project of the vault.
    init(_ binding: VaultProject.Binding) {
        self.init(
            origin: binding.origin, accountID: binding.accountID, teamID: binding.teamID)
    }
}

/// What notifications keep, while the vault gets new keys: it would not open with those.
struct KeptNotifications {
    private let choices: NotificationChoices?
    private let progress: WatchProgress?

    /// Reads it with the old keys.
    init(_ workspace: Workspace, _ keys: VaultKeys) {
        let files = try? NotificationFiles(workspace, keys: keys)
        choices = try? files?.choices()
        progress = (try? files?.progress())?.progress
    }

    /// Seals it with the new ones. A failure is told; the new keys stand all the same.
    func keep(under keys: VaultKeys, _ workspace: Workspace) {
        do {
            try NotificationFiles(workspace, keys: keys).takeOver(choices, progress)
        } catch {
            workspace.context.warn(
                "notifications-lost",
                "The choices of notifications could not be kept under the new keys. Choose them anew with: zg-env notify set"
            )
        }
    }
}
