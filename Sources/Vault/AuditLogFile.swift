internal import CLinux
internal import Glibc

/// The file of an audit log, open. Judged by what was opened: the user's own regular file that nobody
/// else can read or write.
final class AuditLogFile {
    private let path: String
    let descriptor: Int32
    private var isClosed = false

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        if !isClosed { close(descriptor) }
    }

    /// Opens the log for reading; nil where there is none.
    static func reading(_ path: String) throws(VaultError) -> AuditLogFile? {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT || errno == ENOTDIR { return nil }
        return try checked(descriptor, path)
    }

    /// Bytes of the file while nobody writes to it; as it is now where the lock cannot be had.
    ///
    /// - Parameter lockSeconds: How long to wait for a writer.
    func settledByteCount(lockSeconds: Int) throws(VaultError) -> UInt64 {
        // The lock is one for writing, which a file open for reading cannot have.
        let second = unsafe open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard second >= 0 else { return try byteCount() }
        let other = AuditLogFile(second, path)
        try? other.waitForLock(lockSeconds)
        return try byteCount()
    }

    /// Opens the log for writing, made with its directory where it is missing, and waits for its lock.
    ///
    /// - Parameter lockSeconds: How long to wait for another writer.
    static func locked(_ path: String, lockSeconds: Int) throws(VaultError) -> AuditLogFile {
        while true {
            let file = try opened(path)
            try file.waitForLock(lockSeconds)
            // Somebody may have moved the file away while this process waited.
            var (held, named) = (stat(), stat())
            guard unsafe fstat(file.descriptor, &held) == 0 else { throw problem(path) }
            if unsafe lstat(path, &named) == 0, held.st_dev == named.st_dev,
                held.st_ino == named.st_ino
            {
                return file
            }
        }
    }

    private static func opened(_ path: String) throws(VaultError) -> AuditLogFile {
        let flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        var descriptor = unsafe open(path, flags | O_CREAT, 0o600)
        if descriptor < 0 && errno == ENOENT {
            do {
                try PosixFileStore().prepareDirectory(of: path)
            } catch {
                throw VaultError(.auditLog, error.reason)
            }
            descriptor = unsafe open(path, flags | O_CREAT, 0o600)
        }
        return try checked(descriptor, path)
    }

    private static func checked(
        _ descriptor: Int32, _ path: String
    ) throws(VaultError) -> AuditLogFile {
        if descriptor < 0 && errno == ELOOP {
            throw VaultError(.auditLog, "the audit log \(path) is a symbolic link")
        }
        guard descriptor >= 0 else { throw problem(path) }
        let file = AuditLogFile(descriptor, path)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw problem(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw VaultError(.auditLog, "the audit log \(path) is not a regular file")
        }
        guard status.st_uid == geteuid() else {
            throw VaultError(.auditLog, "the audit log \(path) belongs to another user")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw VaultError(
                .auditLog, "the audit log \(path) can be opened by other users",
                remedy: .init(command: "chmod 600", path: path))
        }
        return file
    }

    /// Polls, because a waiting lock call could not be given up after the time.
    private func waitForLock(_ seconds: Int) throws(VaultError) {
        var pause = 200 as UInt32
        var waited = 0 as UInt64
        while zg_try_lock(descriptor) != 0 {
            guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
                throw Self.problem(path)
            }
            guard waited < UInt64(max(seconds, 0)) * 1_000_000 else {
                throw VaultError(
                    .auditLog, "another process is writing to the audit log \(path) and did not end"
                )
            }
            usleep(pause)
            waited += UInt64(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    /// Bytes of the file now.
    func byteCount() throws(VaultError) -> UInt64 {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.problem(path) }
        return UInt64(max(status.st_size, 0))
    }

    /// Reads up to `count` bytes from `offset`; fewer only at the end of the file.
    func read(at offset: UInt64, upTo count: Int) throws(VaultError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor,
                    UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).baseAddress,
                    count - done, off_t(clamping: offset) + done)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw Self.problem(path) }
            if got == 0 { break }
            done += got
        }
        if done < count { bytes.removeLast(count - done) }
        return bytes
    }

    /// Cuts the file to `count` bytes.
    func truncate(to count: UInt64) throws(VaultError) {
        guard ftruncate(descriptor, off_t(clamping: count)) == 0 else { throw Self.problem(path) }
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
                if end == 0 { try confirmName() }
            }
        } catch {
            ftruncate(descriptor, off_t(clamping: end))
            throw error
        }
        // A file system over the network may say only now that there is no room.
        isClosed = true
        guard close(descriptor) == 0 || errno == EINTR else { throw Self.problem(path) }
    }

    /// Brings the name of a new file to the disk.
    private func confirmName() throws(VaultError) {
        let directory = unsafe open(
            PosixFileStore.split(path).directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if directory >= 0 { close(directory) } }
        guard directory >= 0, fsync(directory) == 0 else { throw Self.problem(path) }
    }

    private static func problem(_ path: String) -> VaultError {
        let reason = unsafe String(cString: strerror(errno))
        return VaultError(.auditLog, "the audit log \(path) cannot be used: \(reason)")
    }
}
