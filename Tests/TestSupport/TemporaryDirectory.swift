package import Foundation

/// A temporary directory for one test, accessible to its owner only (0700), removed with this
/// object.
package final class TemporaryDirectory: Sendable {
    /// The absolute path, without a symbolic link in it and without a slash at the end.
    package let path: String

    /// Creates an empty directory below the system's directory for temporary files.
    package init(named prefix: String = "zg-env-test") throws {
        var template = Array("/tmp/\(prefix)-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp") }
        let bytes = template.dropLast().map { UInt8(bitPattern: $0) }
        path = String(decoding: bytes, as: UTF8.self)
        guard unsafe chmod(path, 0o700) == 0 else { throw SystemCallError("chmod") }
    }

    deinit {
        // A test may have removed the write permission from a directory inside.
        if (try? FileManager.default.removeItem(atPath: path)) == nil {
            for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init() {
                _ = unsafe chmod("\(path)/\(name)", 0o700)
            }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// The path of `name` inside.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Creates the directory `name` inside, 0700, with its parents. Returns its path.
    @discardableResult
    package func makeDirectory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: path(name), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        return path(name)
    }

    /// Writes a file inside, with exactly `mode`. Returns its path. A program can be started at once.
    @discardableResult
    package func write(
        _ bytes: [UInt8], to name: String, mode: mode_t = 0o600
    ) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        guard unsafe chmod(path(name), mode) == 0 else { throw SystemCallError("chmod") }
        if mode & 0o100 != 0 { try FileWriters.wait(for: path(name)) }
        return path(name)
    }

    /// Writes a text file inside, with exactly `mode`. Returns its path.
    @discardableResult
    package func write(_ text: String, to name: String, mode: mode_t = 0o600) throws -> String {
        try write(Array(text.utf8), to: name, mode: mode)
    }

    /// All bytes of the file `name` inside.
    package func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }
}
