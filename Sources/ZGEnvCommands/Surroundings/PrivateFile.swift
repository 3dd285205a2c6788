internal import Glibc
internal import SystemFiles
internal import Vault

/// A file with values, for its owner alone, written whole or not at all.
enum PrivateFile {
    /// Writes `bytes` to `path` with mode 0600.
    ///
    /// - Parameters:
    ///   - replaces: Whether a file that is there may be replaced.
    ///   - durably: Whether it must be on the disk before this returns.
    ///   - check: Called when the new file is written, right before it takes the path.
    /// - Throws: ``ExitCode/conflict`` when there is one and it may not.
    static func write(
        _ bytes: RawSpan, to path: String, replaces: Bool, durably: Bool = true,
        check: () throws -> Void = {}
    ) throws {
        do {
            try FileReplacement.write(
                to: path, by: Self.temporaryName(for: path), replaces: replaces, durably: durably
            ) {
                try $0.write(bytes)
                try check()
            }
        } catch let error as FileReplacement.Failure {
            switch error {
            case .exists:
                throw CommandError(
                    .conflict, "\(path) is there already.",
                    hint: "It was left as it is. Say --force to replace it, or name another file.")
            case .notConfirmed(let error):
                throw CommandError(
                    .failed,
                    "\(path) was written, but the disk did not confirm it: \(error.reason).")
            case .notMade(let error), .notWritten(let error), .notNamed(let error):
                throw CommandError(.failed, "\(path) cannot be written: \(error.reason).")
            }
        }
    }

    /// It begins as the file's own name does: where a killed process leaves it, whatever keeps that file out of
    /// a repository is to keep this one out too.
    private static func temporaryName(for path: String) -> String {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        let ending = ".tmp-\(Identifier.random().hexadecimal.prefix(8))"
        var front = name
        while front.utf8.count + ending.utf8.count > Int(NAME_MAX) { front.removeLast() }
        return front + ending
    }
}
