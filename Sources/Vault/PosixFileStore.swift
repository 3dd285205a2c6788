internal import CLinux
internal import Glibc
internal import Sealing

/// Vault files on a Linux file system.
///
/// A vault is a regular file of the user's own that nobody else can read, in a directory that
/// nobody else can write. It is never changed in place: a new file is written beside it, brought
/// to the disk, and renamed over it.
package struct PosixFileStore: FileStore {
    private let lockSeconds: Int

    /// - Parameter lockSeconds: How long to wait for another writer.
    package init(lockSeconds: Int = 10) {
        self.lockSeconds = lockSeconds
    }

    package func open(_ path: String) throws(VaultError) -> any ReadableFile {
        try PosixFile(opening: path)
    }

    package func exists(_ path: String) throws(VaultError) -> Bool {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw failure("\(path) cannot be looked at")
    }

    package func withLock<R: ~Copyable>(
        _ path: String, _ body: () throws -> R
    ) throws -> R {
        let lockPath = path + ".lock"
        let descriptor = unsafe Glibc.open(
            lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("the lock \(lockPath) cannot be opened") }
        defer { close(descriptor) }
        try waitForLock(descriptor, lockPath)
        writeHolder(descriptor)
        removeStaleTemporaries(of: path)
        return try body()
    }

    /// Polls, because a waiting lock call could not be given up after the time.
    private func waitForLock(_ descriptor: Int32, _ lockPath: String) throws(VaultError) {
        var pause = 1_000 as UInt32
        var waited = 0 as UInt64
        while zg_try_lock(descriptor) != 0 {
            guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
                throw failure("the lock \(lockPath) cannot be taken")
            }
            guard waited < UInt64(lockSeconds) * 1_000_000 else {
                throw VaultError(
                    .busy, "process \(holder(descriptor)) is writing to the vault and did not end")
            }
            usleep(pause)
            waited += UInt64(pause)
            pause = min(pause * 2, 50_000)
        }
    }

    private func writeHolder(_ descriptor: Int32) {
        // The holder's number is for the message of others alone, so a failure changes nothing.
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = unsafe pwrite(descriptor, text, text.count, 0)
    }

    private func holder(_ descriptor: Int32) -> String {
        var text = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &text, text.count, 0)
        let digits = text.prefix(max(count, 0)).prefix { (48...57).contains($0) }
        return digits.isEmpty ? "another" : String(decoding: digits, as: UTF8.self)
    }

    package func prepareDirectory(of path: String) throws(VaultError) {
        try makeDirectory(Self.split(path).directory)
    }

    private func makeDirectory(_ path: String) throws(VaultError) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, path.contains("/") else {
            throw failure("the directory \(path) cannot be made")
        }
        try makeDirectory(Self.split(path).directory)
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        throw failure("the directory \(path) cannot be made")
    }

    package func openCopy(_ path: String) throws(VaultError) -> any ReadableFile {
        try PosixFile(opening: path, isCopy: true)
    }

    package func remove(_ path: String) throws(VaultError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw failure("\(path) cannot be removed")
        }
    }

    package func replace(_ path: String, with parts: [FilePart]) throws(VaultError) {
        let temporary = try writeTemporary(parts, for: path)
        try rename(temporary, to: path, replaces: true)
    }

    package func write(
        _ parts: [FilePart], to path: String, replaces: Bool,
        check: (any ReadableFile) throws -> Void
    ) throws {
        let temporary = try writeTemporary(parts, for: path)
        do {
            try check(try PosixFile(opening: temporary, isCopy: true))
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        try rename(temporary, to: path, replaces: replaces)
    }

    /// Writes a new file beside `path` and brings it to the disk. Returns its path.
    private func writeTemporary(
        _ parts: [FilePart], for path: String
    ) throws(VaultError) -> String {
        let (directory, name) = Self.split(path)
        let suffix = Identifier.random().hexadecimal.prefix(16)
        let temporary = "\(directory)/.\(name).tmp-\(suffix)"
        let descriptor = unsafe Glibc.open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("no file can be made in \(directory)") }
        do throws(VaultError) {
            defer { close(descriptor) }
            for part in parts { try write(part, to: descriptor, temporary) }
            guard fsync(descriptor) == 0 else {
                throw failure("\(temporary) cannot be brought to the disk")
            }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        return temporary
    }

    private func rename(
        _ temporary: String, to path: String, replaces: Bool
    ) throws(VaultError) {
        let status =
            replaces ? unsafe Glibc.rename(temporary, path) : unsafe zg_rename_new(temporary, path)
        guard status == 0 else {
            let exists = !replaces && errno == EEXIST
            let error =
                exists
                ? VaultError(.exists, "there is something at \(path) already")
                : failure("\(path) cannot be written")
            unsafe unlink(temporary)
            throw error
        }
        try confirm(Self.split(path).directory, path)
    }

    private func confirm(_ directory: String, _ path: String) throws(VaultError) {
        let descriptor = unsafe Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw VaultError(
                .notConfirmed,
                "\(path) was written, but the disk did not confirm it; look at it before you go on")
        }
    }

    private func write(
        _ part: FilePart, to descriptor: Int32, _ path: String
    ) throws(VaultError) {
        switch part {
        case .bytes(let bytes): try writeAll(bytes, to: descriptor, path)
        case .copy(let file, var offset, var count):
            if let file = file as? PosixFile {
                while count > 0 {
                    let copied = zg_copy_file_range(
                        file.descriptor, Int64(offset), descriptor, Int(min(count, 1 << 30)))
                    if copied > 0 {
                        offset += UInt64(copied)
                        count -= UInt64(copied)
                    } else if !(copied < 0 && errno == EINTR) {
                        // Another file system or an old kernel: the bytes go through this process.
                        break
                    }
                }
            }
            while count > 0 {
                let piece = try file.read(at: offset, count: Int(min(count, 1 << 20)))
                try writeAll(piece, to: descriptor, path)
                offset += UInt64(piece.count)
                count -= UInt64(piece.count)
            }
        }
    }

    private func writeAll(
        _ bytes: [UInt8], to descriptor: Int32, _ path: String
    ) throws(VaultError) {
        guard bytes.withBytes({ DescriptorWriting.writeAll($0, to: descriptor) }) else {
            throw failure("\(path) cannot be written")
        }
    }

    /// Removes what a killed writer left. The caller holds the lock, so nobody is writing there.
    private func removeStaleTemporaries(of path: String) {
        let (directory, name) = Self.split(path)
        guard let stream = unsafe opendir(directory) else { return }
        defer { unsafe closedir(stream) }
        let prefix = ".\(name).tmp-"
        while let entry = unsafe readdir(stream) {
            let file = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if file.hasPrefix(prefix) { _ = unsafe unlink("\(directory)/\(file)") }
        }
    }

    static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let directory = path[..<slash]
        return (
            directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...])
        )
    }
}

/// An error that names what the kernel said of the last call.
func failure(_ what: String) -> VaultError {
    let number = errno
    let reason = unsafe String(cString: strerror(number))
    return VaultError(number == ENOENT ? .notFound : .inputOutput, "\(what): \(reason)")
}
