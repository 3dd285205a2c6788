internal import Glibc
internal import Sealing
internal import SystemFiles
internal import Vault

/// Writes files atomically and, unless they have no secrets, for their owner alone.
enum PrivateFile {
    /// Writes `bytes` to `path`.
    ///
    /// - Parameters:
    ///   - permissions: Others than the default only for a file without secrets.
    ///   - old: The file to replace, whose owner, group, permissions and access control list the new
    ///     one gets.
    ///   - replaces: Whether to replace an existing file.
    ///   - durably: Whether to wait until the file is on disk.
    ///   - check: Called after the new file is written, right before it gets its path.
    /// - Throws: ``ExitCode/conflict`` if the file exists and must not be replaced.
    static func write(
        _ bytes: RawSpan, to path: String, permissions: UInt32 = 0o600,
        keeping old: FileFacts? = nil, replaces: Bool, durably: Bool = true,
        check: () throws -> Void = {}
    ) throws {
        do {
            try FileReplacement.write(
                to: path, by: Self.temporaryName(for: path), permissions: permissions,
                keeping: old, replaces: replaces, durably: durably, unnamed: true
            ) {
                try $0.write(bytes)
                try check()
            }
        } catch let error as FileReplacement.Failure {
            switch error {
            case .exists:
                throw CommandError(
                    .conflict, "\(path) already exists.",
                    hint: "Use --force to replace it, or choose another file.")
            case .notConfirmed(let error):
                throw CommandError(
                    .failed,
                    "\(path) was written, but may not be on disk yet: \(error.reason).")
            case .notKept(let error):
                throw CommandError(
                    .failed,
                    "\(path) was not changed, because its owner, group and permissions cannot be kept: \(error.reason).",
                    hint:
                        "Run the command as root, or as the file's owner if that user is in the file's group."
                )
            case .cannotCreate, .notWritten, .cannotRename:
                throw CommandError(.failed, "\(path) cannot be written: \(error.reason).")
            }
        }
    }

    /// Writes bytes without secrets as ``write(_:to:permissions:keeping:replaces:durably:check:)`` does.
    static func write(
        _ bytes: [UInt8], to path: String, replaces: Bool, durably: Bool = true
    ) throws {
        try bytes.withBytes { try write($0, to: path, replaces: replaces, durably: durably) }
    }

    /// Returns a name that begins with the file's own: many patterns that keep that one out of a repository
    /// match the temporary one, too, which a killed process leaves behind on a few file systems.
    private static func temporaryName(for path: String) -> String {
        let ending = ".tmp-\(Identifier.random().hexadecimal.prefix(8))"
        var front = FileReplacement.name(of: path)
        while front.utf8.count + ending.utf8.count > Int(NAME_MAX) { front.removeLast() }
        return front + ending
    }
}
