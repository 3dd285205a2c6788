internal import CLinux
internal import Glibc
internal import Sealing
internal import SystemFiles

/// Vault files on a Linux file system.
///
/// A vault is a regular file owned by the user and inaccessible to others, in a directory that
/// others cannot write to. It is never modified in place: a new file is written beside it, synced
/// to disk, and renamed over it.
package struct PosixFileStore: FileStore {
    private let lockSeconds: Int
    private let isDurable: Bool

    /// - Parameters:
    ///   - lockSeconds: How long to wait for another writer.
    ///   - isDurable: Whether calls sync what they write to disk before returning.
    package init(lockSeconds: Int = 10, isDurable: Bool = true) {
        (self.lockSeconds, self.isDurable) = (lockSeconds, isDurable)
    }

    package func open(_ path: String) throws(VaultError) -> any ReadableFile {
        try PosixFile(opening: path)
    }

    package func openToRead(_ path: String) throws(VaultError) -> any ReadableFile {
        try PosixFile(reading: path)
    }

    package func exists(_ path: String) throws(VaultError) -> Bool {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw systemFailure("cannot access \(path)")
    }

    package func withLock<R: ~Copyable>(
        _ path: String, _ body: () throws -> R
    ) throws -> R {
        let lockPath = path + ".lock"
        func cannotLock(_ error: SystemError) -> VaultError {
            systemFailure("cannot lock \(lockPath)", error)
        }
        let lock = try SystemError.mapped(try FileLock(lockPath), cannotLock)
        let isTaken = try SystemError.mapped(
            try lock.lock(within: .seconds(lockSeconds), pauses: 1_000...50_000), cannotLock)
        guard isTaken else {
            let holder = lock.holder.map { "process \($0)" } ?? "another process"
            throw VaultError(
                .busy, "timed out waiting for \(holder), which is writing to the vault")
        }
        defer { withExtendedLifetime(lock) {} }
        lock.writeHolder()
        removeStaleTemporaries(of: path)
        return try body()
    }

    package func prepareDirectory(of path: String) throws(VaultError) {
        try makeDirectory(FileReplacement.directory(of: path))
    }

    private func makeDirectory(_ path: String) throws(VaultError) {
        if createDirectory(path) { return }
        guard errno == ENOENT, path.contains("/") else {
            throw systemFailure("cannot create the directory \(path)")
        }
        try makeDirectory(FileReplacement.directory(of: path))
        guard createDirectory(path) else {
            throw systemFailure("cannot create the directory \(path)")
        }
    }

    /// - Returns: Whether the directory exists; otherwise the reason is in `errno`.
    private func createDirectory(_ path: String) -> Bool {
        guard unsafe mkdir(path, 0o700) == 0 else { return errno == EEXIST }
        // A parent that cannot be opened cannot be synced, but the directory is usable.
        if isDurable { try? FileReplacement.syncDirectory(of: path) }
        return true
    }

    package func openCopy(_ path: String) throws(VaultError) -> any ReadableFile {
        try PosixFile(opening: path, isCopy: true)
    }

    package func remove(_ path: String) throws(VaultError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw systemFailure("cannot remove \(path)")
        }
    }

    package func replace(_ path: String, with parts: [FilePart]) throws(VaultError) {
        do {
            try write(parts, to: path, replaces: true) { _ in }
        } catch {
            throw error as? VaultError ?? VaultError(.inputOutput, "cannot write \(path)")
        }
    }

    package func write(
        _ parts: [FilePart], to path: String, replaces: Bool,
        check: (any ReadableFile) throws -> Void
    ) throws {
        let directory = FileReplacement.directory(of: path)
        let name = Self.temporaryPrefix(of: path) + Identifier.random().hexadecimal.prefix(16)
        do {
            try FileReplacement.write(
                to: path, by: name, replaces: replaces, durably: isDurable
            ) { file in
                for part in parts { try write(part, to: file) }
                try check(try PosixFile(opening: "\(directory)/\(name)", isCopy: true))
            }
        } catch let error as FileReplacement.Failure {
            switch error {
            case .cannotCreate(let error):
                throw systemFailure("cannot create a file in \(directory)", error)
            case .notWritten, .notKept, .cannotRename:
                throw VaultError(
                    error.cause.number == ENOENT ? .notFound : .inputOutput,
                    "cannot write \(path): \(error.reason)")
            case .exists: throw VaultError(.exists, "\(path) already exists")
            case .notConfirmed:
                throw VaultError(
                    .notConfirmed,
                    "\(path) was written, but may not be on disk yet; check it before you continue"
                )
            }
        }
    }

    private func write(_ part: FilePart, to target: OpenFile) throws {
        switch part {
        case .bytes(let bytes): try bytes.withBytes { try target.write($0) }
        case .copy(let source, var offset, var count):
            if let file = source as? PosixFile {
                while count > 0 {
                    let copied = zg_copy_file_range(
                        file.descriptor, Int64(offset), target.descriptor, Int(min(count, 1 << 30)))
                    if copied > 0 {
                        offset += UInt64(copied)
                        count -= UInt64(copied)
                    } else if !(copied < 0 && errno == EINTR) {
                        // On another file system or an old kernel, copy through this process.
                        break
                    }
                }
            }
            while count > 0 {
                let piece = try source.read(at: offset, count: Int(min(count, 1 << 20)))
                try piece.withBytes { try target.write($0) }
                offset += UInt64(piece.count)
                count -= UInt64(piece.count)
            }
        }
    }

    /// Removes temporary files of killed writers. The caller must hold the lock.
    private func removeStaleTemporaries(of path: String) {
        let directory = FileReplacement.directory(of: path)
        let prefix = Self.temporaryPrefix(of: path)
        for name in Directory.names(in: directory) where name.hasPrefix(prefix) {
            _ = unsafe unlink("\(directory)/\(name)")
        }
    }

    /// Returns the prefix of temporary files that replace `path`.
    package static func temporaryPrefix(of path: String) -> String {
        ".\(FileReplacement.name(of: path)).tmp-"
    }
}

/// Returns an error with the system's reason.
func systemFailure(_ what: String, _ error: SystemError = .last) -> VaultError {
    VaultError(error.number == ENOENT ? .notFound : .inputOutput, "\(what): \(error.reason)")
}
