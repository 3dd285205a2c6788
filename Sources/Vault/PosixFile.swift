internal import Glibc

/// A vault file open for reading, judged by what was opened and not by its name.
final class PosixFile: ReadableFile {
    let descriptor: Int32
    let byteCount: UInt64

    /// Opens `path`, which must be the user's own regular file that nobody else can read or write.
    ///
    /// - Parameter isCopy: Takes any regular file: a backup may lie on a disk without owners.
    init(opening path: String, isCopy: Bool = false) throws(VaultError) {
        let following = isCopy ? 0 : O_NOFOLLOW
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | following)
        if descriptor < 0 && errno == ELOOP {
            throw VaultError(.insecure, "\(path) is a symbolic link, and a vault must not be one")
        }
        if descriptor < 0 && (errno == ENOENT || errno == ENOTDIR) {
            throw VaultError(
                .notFound, isCopy ? "there is no file \(path)" : "there is no vault at \(path)")
        }
        guard descriptor >= 0 else { throw failure("\(path) cannot be opened") }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            close(descriptor)
            throw failure("\(path) cannot be looked at")
        }
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        let objection = isCopy && isRegular ? nil : Self.objection(to: status, at: path)
        if let objection {
            close(descriptor)
            throw objection
        }
        self.descriptor = descriptor
        byteCount = UInt64(max(status.st_size, 0))
    }

    deinit {
        close(descriptor)
    }

    private static func objection(to status: stat, at path: String) -> VaultError? {
        guard status.st_mode & S_IFMT == S_IFREG else {
            return VaultError(.insecure, "\(path) is not a regular file")
        }
        guard status.st_uid == geteuid() else {
            return VaultError(.insecure, "\(path) belongs to another user")
        }
        guard status.st_mode & 0o077 == 0 else {
            return VaultError(
                .insecure, "\(path) can be opened by other users",
                remedy: .init(command: "chmod 600", path: path))
        }
        let directory = PosixFileStore.split(path).directory
        var parent = stat()
        guard unsafe stat(directory, &parent) == 0 else {
            return VaultError(.insecure, "\(directory) cannot be looked at")
        }
        let isShared = parent.st_mode & 0o022 != 0 && parent.st_mode & S_ISVTX == 0
        guard !isShared else {
            return VaultError(
                .insecure, "other users can write to \(directory)",
                remedy: .init(command: "chmod go-w", path: directory))
        }
        return nil
    }

    func read(at offset: UInt64, count: Int) throws(VaultError) -> [UInt8] {
        try expect(count, at: offset)
        var problem: VaultError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            problem = unsafe fill(UnsafeMutableRawBufferPointer(buffer), from: offset, &done)
        }
        if let problem { throw problem }
        return bytes
    }

    func read(at offset: UInt64, into bytes: inout MutableRawSpan) throws(VaultError) {
        try expect(bytes.byteCount, at: offset)
        var done = 0
        let problem = unsafe bytes.withUnsafeMutableBytes {
            unsafe fill($0, from: offset, &done)
        }
        if let problem { throw problem }
    }

    private func expect(_ count: Int, at offset: UInt64) throws(VaultError) {
        guard offset <= byteCount, UInt64(count) <= byteCount - offset else {
            throw VaultError(damaged: .truncated, "the vault is shorter than it says")
        }
    }

    /// - Parameter done: How many bytes were read, from 0.
    private func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64, _ done: inout Int
    ) -> VaultError? {
        while done < buffer.count {
            let got = unsafe pread(
                descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).baseAddress,
                buffer.count - done, off_t(offset) + done)
            if got < 0 && errno == EINTR { continue }
            if got < 0 { return failure("the vault cannot be read") }
            if got == 0 {
                return VaultError(damaged: .truncated, "the vault is shorter than it says")
            }
            done += got
        }
        return nil
    }
}
