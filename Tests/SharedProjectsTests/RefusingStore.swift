import Vault

/// A store in which no file can be replaced, as on a full disk.
struct RefusingStore: FileStore {
    let base: PosixFileStore

    func open(_ path: String) throws(VaultError) -> any ReadableFile { try base.open(path) }
    func openCopy(_ path: String) throws(VaultError) -> any ReadableFile {
        try base.openCopy(path)
    }
    func exists(_ path: String) throws(VaultError) -> Bool { try base.exists(path) }
    func withLock<R: ~Copyable>(_ path: String, _ body: () throws -> R) throws -> R {
        try base.withLock(path, body)
    }
    func prepareDirectory(of path: String) throws(VaultError) {}
    func remove(_ path: String) throws(VaultError) {}

    func replace(_ path: String, with parts: [FilePart]) throws(VaultError) {
        throw VaultError(.inputOutput, "the disk is full")
    }

    func write(
        _ parts: [FilePart], to path: String, replaces: Bool,
        check: (any ReadableFile) throws -> Void
    ) throws {
        throw VaultError(.inputOutput, "the disk is full")
    }
}
