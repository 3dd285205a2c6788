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
        let name = PosixFileStore.temporaryPrefix(of: path) + "\(Identifier.random().hexadecimal)"
        do {
            try FileReplacement.write(to: path, by: name, replaces: replaces, durably: durably) {
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
}
