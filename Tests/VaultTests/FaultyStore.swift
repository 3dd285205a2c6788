import TestSupport

@testable import Vault

/// A store that fails at one step, counted from 0, and at every later one, as on a full or dying
/// disk. The step after a rename fails like an unconfirmed sync of the directory.
final class FaultyStore: FileStore {
    private let base: PosixFileStore
    private let failingStep: Int
    private(set) var steps = 0

    init(_ base: PosixFileStore, failingAt step: Int) {
        self.base = base
        failingStep = step
    }

    /// Whether the step was reached.
    var failed: Bool { steps > failingStep }

    private func step(_ code: VaultError.Code = .inputOutput) throws(VaultError) {
        steps += 1
        guard steps <= failingStep else { throw VaultError(code, "the disk failed") }
    }

    func open(_ path: String) throws(VaultError) -> any ReadableFile {
        try step()
        return try base.open(path)
    }

    func openCopy(_ path: String) throws(VaultError) -> any ReadableFile {
        try step()
        return try base.openCopy(path)
    }

    func exists(_ path: String) throws(VaultError) -> Bool {
        try step()
        return try base.exists(path)
    }

    func withLock<R: ~Copyable>(_ path: String, _ body: () throws -> R) throws -> R {
        try step()
        return try base.withLock(path, body)
    }

    func prepareDirectory(of path: String) throws(VaultError) {
        try step()
        try base.prepareDirectory(of: path)
    }

    func replace(_ path: String, with parts: [FilePart]) throws(VaultError) {
        try step()
        try base.replace(path, with: parts)
        try step(.notConfirmed)
    }

    func remove(_ path: String) throws(VaultError) {
        try base.remove(path)
    }

    func write(
        _ parts: [FilePart], to path: String, replaces: Bool,
        check: (any ReadableFile) throws -> Void
    ) throws {
        try step()
        try base.write(parts, to: path, replaces: replaces) { file in
            try step()
            try check(file)
            try step()
        }
        try step(.notConfirmed)
    }
}
