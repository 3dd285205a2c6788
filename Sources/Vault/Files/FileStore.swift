internal import Sealing

/// The file system operations that a vault needs. Implemented by ``PosixFileStore``.
package protocol FileStore {
    /// Opens a file that only the user may read and write: a vault that is about to be changed, or a
    /// file beside it.
    ///
    /// - Throws: ``VaultError/Code/notFound``, ``VaultError/Code/insecure`` or ``VaultError/Code/inputOutput``.
    func open(_ path: String) throws(VaultError) -> any ReadableFile

    /// Opens a vault file for reading: a regular file with any owner and permissions, or a symbolic
    /// link to one. Its content says who wrote it; ``ReadableFile/risk`` says who else can replace
    /// it.
    ///
    /// - Throws: As ``open(_:)``.
    func openToRead(_ path: String) throws(VaultError) -> any ReadableFile

    /// Returns whether anything exists at `path`.
    func exists(_ path: String) throws(VaultError) -> Bool

    /// Runs `body` while holding the write lock of `path`.
    ///
    /// - Throws: ``VaultError/Code/busy`` after the timeout, and what `body` throws.
    func withLock<R: ~Copyable>(
        _ path: String, _ body: () throws -> R
    ) throws -> R

    /// Creates missing parent directories of `path`, accessible only to the user (0700).
    func prepareDirectory(of path: String) throws(VaultError)

    /// Atomically replaces `path`. Only for the holder of the lock.
    ///
    /// - Throws: ``VaultError/Code/inputOutput`` if the old file is still in place, or
    ///   ``VaultError/Code/notConfirmed`` if the new file is in place but may not survive a power
    ///   failure.
    func replace(_ path: String, with parts: [FilePart]) throws(VaultError)

    /// Opens a file for reading only, such as a backup: a regular file with any owner and
    /// permissions.
    ///
    /// - Throws: ``VaultError/Code/notFound``, ``VaultError/Code/insecure`` or ``VaultError/Code/inputOutput``.
    func openCopy(_ path: String) throws(VaultError) -> any ReadableFile

    /// Removes the file at `path`, if it exists.
    ///
    /// - Throws: ``VaultError/Code/inputOutput`` if the file remains.
    func remove(_ path: String) throws(VaultError)

    /// Writes a file accessible only to the user, and renames it to `path` after `check` has seen
    /// it complete on disk.
    ///
    /// - Parameters:
    ///   - replaces: Whether an existing file may be replaced. Replacing a vault in use requires
    ///     its lock.
    ///   - check: Checks the finished file. If it throws, the file is removed and `path` is
    ///     unchanged.
    /// - Throws: What `check` throws, ``VaultError/Code/exists``, and what ``replace(_:with:)``
    ///   throws.
    func write(
        _ parts: [FilePart], to path: String, replaces: Bool,
        check: (any ReadableFile) throws -> Void
    ) throws
}

extension FileStore {
    /// For stores that no one else can write to.
    package func openToRead(_ path: String) throws(VaultError) -> any ReadableFile {
        try open(path)
    }
}

/// A file open for reading. It contains ciphertext, so it needs no secret memory.
package protocol ReadableFile: AnyObject {
    /// The size when the file was opened.
    var byteCount: UInt64 { get }

    /// Who else can delete the file or put an older copy in its place, as a sentence; nil if no one
    /// can, or if that was not asked.
    var risk: String? { get }

    /// Reads exactly `count` bytes from `offset`.
    ///
    /// - Throws: ``VaultError/Code/damaged`` if the file is too short,
    ///   ``VaultError/Code/inputOutput``.
    func read(at offset: UInt64, count: Int) throws(VaultError) -> [UInt8]

    /// Fills `bytes` from `offset`.
    ///
    /// - Throws: As ``read(at:count:)``.
    func read(at offset: UInt64, into bytes: inout MutableRawSpan) throws(VaultError)
}

extension ReadableFile {
    package var risk: String? { nil }

    package func read(at offset: UInt64, into bytes: inout MutableRawSpan) throws(VaultError) {
        try read(at: offset, count: bytes.byteCount).withBytes { bytes.copy(from: $0) }
    }
}

/// A part of a file to write.
package enum FilePart {
    case bytes([UInt8])
    /// `count` bytes from `offset` of another file, copied in the kernel where possible.
    case copy(of: any ReadableFile, offset: UInt64, count: UInt64)
}
