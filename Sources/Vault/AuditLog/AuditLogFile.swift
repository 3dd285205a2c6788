internal import Glibc
internal import SystemFiles

/// The file of an audit log, open. Judged by what was opened: the user's own regular file that nobody
/// else can read or write.
final class AuditLogFile {
    private let path: String
    private let file: OpenFile

    var descriptor: Int32 { file.descriptor }

    private init(_ file: OpenFile, _ path: String) {
        (self.file, self.path) = (file, path)
    }

    /// Opens the log for reading; nil where there is none.
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

    /// Bytes of the file while nobody writes to it; as it is now where the lock cannot be had.
    ///
    /// - Parameter lockSeconds: How long to wait for a writer.
    func settledByteCount(lockSeconds: Int) throws(VaultError) -> UInt64 {
        // The lock is one for writing, which a file open for reading cannot have.
        let second = try? OpenFile(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        let other = second.map { AuditLogFile($0, path) }
        try? other?.waitForLock(lockSeconds)
        defer { withExtendedLifetime(other) {} }
        return try byteCount()
    }

    /// Opens the log for writing, made with its directory where it is missing, and waits for its lock.
    ///
    /// - Parameter lockSeconds: How long to wait for another writer.
    static func locked(_ path: String, lockSeconds: Int) throws(VaultError) -> AuditLogFile {
        while true {
            let log = try opened(path)
            try log.waitForLock(lockSeconds)
            // Somebody may have moved the file away while this process waited.
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
        guard !facts.isOpenToOthers else {
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
                .auditLog, "another process is writing to the audit log \(path) and did not end")
        }
    }

    /// Bytes of the file now.
    func byteCount() throws(VaultError) -> UInt64 {
        try SystemError.mapped(try file.facts().byteCount) { Self.problem(path, $0) }
    }

    /// Reads up to `count` bytes from `offset`; fewer only at the end of the file.
    func read(at offset: UInt64, upTo count: Int) throws(VaultError) -> [UInt8] {
        try SystemError.mapped(try file.bytes(at: offset, upTo: count)) { Self.problem(path, $0) }
    }

    /// Cuts the file to `count` bytes.
    func truncate(to count: UInt64) throws(VaultError) {
        guard ftruncate(descriptor, off_t(clamping: count)) == 0 else {
            throw Self.problem(path)
        }
    }

    /// Appends `bytes` by one `write` and closes the file. What was written of them goes again where
    /// that fails, as far as the file system lets it.
    ///
    /// - Parameter durably: Also brings them to the disk.
    func append(_ bytes: [UInt8], durably: Bool) throws(VaultError) {
        let end = try byteCount()
        do throws(VaultError) {
            var written = unsafe bytes.withUnsafeBytes {
                unsafe write(descriptor, $0.baseAddress, $0.count)
            }
            while written < 0 && errno == EINTR {
                written = unsafe bytes.withUnsafeBytes {
                    unsafe write(descriptor, $0.baseAddress, $0.count)
                }
            }
            guard written >= 0 else { throw Self.problem(path) }
            guard written == bytes.count else {
                throw VaultError(
                    .auditLog, "the audit log \(path) cannot be written: there is no more room")
            }
            if durably {
                guard fdatasync(descriptor) == 0 else { throw Self.problem(path) }
                if end == 0 {
                    do throws(FileReplacement.Failure) {
                        try FileReplacement.confirmName(of: path)
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
