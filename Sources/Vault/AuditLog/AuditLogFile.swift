internal import Glibc
internal import SystemFiles

/// An open audit log file. Checked after opening: a regular file owned by the user, and
/// inaccessible to others.
final class AuditLogFile {
    private let path: String
    private let file: OpenFile

    var descriptor: Int32 { file.descriptor }

    private init(_ file: OpenFile, _ path: String) {
        (self.file, self.path) = (file, path)
    }

    /// Opens the log for reading. Returns nil if it does not exist.
    static func reading(_ path: String) throws(VaultError) -> AuditLogFile? {
        let file: OpenFile
        do throws(SystemError) {
            file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            if error.isNotFound { return nil }
            throw problem(path, error)
        }
        return try checked(file, path)
    }

    /// Returns the file's size while no process is writing, or its current size if the lock is not
    /// available in time.
    ///
    /// - Parameter lockSeconds: How long to wait for a writer.
    func stableByteCount(lockSeconds: Int) throws(VaultError) -> UInt64 {
        // A write lock needs a file that is open for writing.
        let second = try? OpenFile(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        let other = second.map { AuditLogFile($0, path) }
        try? other?.waitForLock(lockSeconds)
        defer { withExtendedLifetime(other) {} }
        return try byteCount()
    }

    /// Opens the log for writing and takes its lock. Creates the file and its directory if missing.
    ///
    /// - Parameter lockSeconds: How long to wait for another writer.
    static func locked(_ path: String, lockSeconds: Int) throws(VaultError) -> AuditLogFile {
        while true {
            let log = try opened(path)
            try log.waitForLock(lockSeconds)
            // The file may have been moved away while this process waited.
            let held = try SystemError.mapped(try log.file.facts()) { problem(path, $0) }
            if let named = try? FileFacts(path, followsLinks: false), named.isOfSameFile(as: held) {
                return log
            }
        }
    }

    private static func opened(_ path: String) throws(VaultError) -> AuditLogFile {
        func open() throws(SystemError) -> OpenFile {
            try OpenFile(
                path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        }
        let file: OpenFile
        do throws(SystemError) {
            file = try open()
        } catch {
            guard error.number == ENOENT else { throw problem(path, error) }
            do throws(VaultError) {
                try PosixFileStore().prepareDirectory(of: path)
            } catch {
                throw VaultError(.auditLog, error.reason)
            }
            file = try SystemError.mapped(try open()) { problem(path, $0) }
        }
        return try checked(file, path)
    }

    private static func checked(
        _ file: OpenFile, _ path: String
    ) throws(VaultError) -> AuditLogFile {
        let facts = try SystemError.mapped(try file.facts()) { problem(path, $0) }
        guard facts.kind == .regular else {
            throw VaultError(.auditLog, "the audit log \(path) is not a regular file")
        }
        guard facts.isOwn else {
            throw VaultError(.auditLog, "the audit log \(path) belongs to another user")
        }
        guard !facts.isAccessibleToOthers else {
            throw VaultError(
                .auditLog, "the audit log \(path) can be opened by other users",
                remedy: .init(command: "chmod 600", path: path))
        }
        return AuditLogFile(file, path)
    }

    private func waitForLock(_ seconds: Int) throws(VaultError) {
        let isTaken = try SystemError.mapped(
            try FileLock(on: file).lock(within: .seconds(max(seconds, 0)), pauses: 200...20_000)
        ) { Self.problem(path, $0) }
        guard isTaken else {
            throw VaultError(
                .auditLog, "another process has held the lock on the audit log \(path) for too long"
            )
        }
    }

    func byteCount() throws(VaultError) -> UInt64 {
        try SystemError.mapped(try file.facts().byteCount) { Self.problem(path, $0) }
    }

    /// Reads up to `count` bytes from `offset`; fewer only at the end of the file.
    func read(at offset: UInt64, upTo count: Int) throws(VaultError) -> [UInt8] {
        try SystemError.mapped(try file.bytes(at: offset, upTo: count)) { Self.problem(path, $0) }
    }

    func truncate(to count: UInt64) throws(VaultError) {
        guard ftruncate(descriptor, off_t(clamping: count)) == 0 else {
            throw Self.problem(path)
        }
    }

    /// Appends `bytes` with a single `write` and closes the file. On failure, removes what was
    /// written, as far as the file system allows.
    ///
    /// - Parameter durably: Whether to sync the bytes to disk.
    func append(_ bytes: [UInt8], durably: Bool) throws(VaultError) {
        let end = try byteCount()
        do throws(VaultError) {
            var written = 0
            repeat {
                written = unsafe bytes.withUnsafeBytes {
                    unsafe write(descriptor, $0.baseAddress, $0.count)
                }
            } while written < 0 && errno == EINTR
            guard written >= 0 else { throw Self.problem(path) }
            guard written == bytes.count else {
                throw VaultError(
                    .auditLog,
                    "the audit log \(path) cannot be written: no space left on the device")
            }
            if durably {
                guard fdatasync(descriptor) == 0 else { throw Self.problem(path) }
                if end == 0 {
                    do throws(FileReplacement.Failure) {
                        try FileReplacement.syncDirectory(of: path)
                    } catch {
                        throw Self.problem(path, error.cause)
                    }
                }
            }
        } catch {
            ftruncate(descriptor, off_t(clamping: end))
            throw error
        }
        try SystemError.mapped(try file.close()) { Self.problem(path, $0) }
    }

    private static func problem(_ path: String, _ error: SystemError = .last) -> VaultError {
        let isLink = error.number == ELOOP
        return VaultError(
            .auditLog,
            "the audit log \(path) \(isLink ? "is a symbolic link" : "cannot be used: \(error.reason)")"
        )
    }
}
