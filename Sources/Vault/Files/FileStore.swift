internal import Sealing

/// What the vault asks of a file system. ``PosixFileStore`` is the real one.
package protocol FileStore {
    /// Opens a vault file for reading.
    ///
    /// - Throws: ``VaultError/Code/notFound``, ``VaultError/Code/insecure`` or ``VaultError/Code/inputOutput``.
    func open(_ path: String) throws(VaultError) -> any ReadableFile

    /// Tells whether something is at `path`, whatever it is.
    func exists(_ path: String) throws(VaultError) -> Bool

    /// Runs `body` while no other writer of `path` runs.
    ///
    /// - Throws: ``VaultError/Code/busy`` when the lock could not be had in time, and what `body` throws.
    func withLock<R: ~Copyable>(
        _ path: String, _ body: () throws -> R
    ) throws -> R

    /// Makes the directories above `path` that are missing, for the user alone (0700).
    func prepareDirectory(of path: String) throws(VaultError)

    /// Puts a new file in place of `path`, whole or not at all. Only for the holder of the lock.
    ///
    /// - Throws: ``VaultError/Code/inputOutput``, and the old file stands; or
    ///   ``VaultError/Code/notConfirmed``, and the new file stands but may be lost with the power.
    func replace(_ path: String, with parts: [FilePart]) throws(VaultError)

    /// Opens a file that is only read, such as a backup: a regular file, whoever owns or reads it.
    ///
    /// - Throws: ``VaultError/Code/notFound``, ``VaultError/Code/insecure`` or ``VaultError/Code/inputOutput``.
    func openCopy(_ path: String) throws(VaultError) -> any ReadableFile

    /// Removes the file at `path`. That there is none is not an error.
    ///
    /// - Throws: ``VaultError/Code/inputOutput``, and the file stays.
    func remove(_ path: String) throws(VaultError)

    /// Writes a file for the user alone, and gives it its name once `check` has seen it whole on the
    /// disk.
    ///
    /// - Parameters:
    ///   - replaces: Whether what is at `path` may go. A vault in use is replaced by the holder of its
    ///     lock alone.
    ///   - check: Looks at the finished file; when it throws, the file goes and `path` stays as it was.
    /// - Throws: What `check` throws, ``VaultError/Code/exists``, and what
    ///   ``replace(_:with:)`` throws.
    func write(
        _ parts: [FilePart], to path: String, replaces: Bool,
        check: (any ReadableFile) throws -> Void
    ) throws
}

/// A file open for reading. What is read is ciphertext, so it needs no secret memory.
package protocol ReadableFile: AnyObject {
    /// Bytes of the file when it was opened.
    var byteCount: UInt64 { get }

    /// Reads exactly `count` bytes from `offset`.
    ///
    /// - Throws: ``VaultError/Code/damaged`` when the file ends before, ``VaultError/Code/inputOutput``.
    func read(at offset: UInt64, count: Int) throws(VaultError) -> [UInt8]

    /// Reads as many bytes from `offset` as `bytes` has room for.
    ///
    /// - Throws: As ``read(at:count:)``.
    func read(at offset: UInt64, into bytes: inout MutableRawSpan) throws(VaultError)
}

extension ReadableFile {
    /// By way of an array.
    package func read(at offset: UInt64, into bytes: inout MutableRawSpan) throws(VaultError) {
        try read(at: offset, count: bytes.byteCount).withBytes { bytes.copy(from: $0) }
    }
}

/// A stretch of a file to be written.
package enum FilePart {
    /// These bytes.
    case bytes([UInt8])
    /// `count` bytes from `offset` of another file, copied by the kernel where it can.
    case copy(of: any ReadableFile, offset: UInt64, count: UInt64)
}
