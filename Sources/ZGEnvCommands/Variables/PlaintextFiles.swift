internal import CommandLineKit
internal import Glibc

/// The files an import came from: still there in clear, or deleted once the vault was read back.
struct PlaintextFiles {
    private let paths: [String]
    private let remove: Bool

    init(_ paths: [String], remove: Bool) {
        self.paths = paths.filter { $0 != "-" }
        self.remove = remove
    }

    /// Names the files that are left, or deletes them after `verify`.
    func finish(_ invocation: Invocation, verify: () throws -> Void) throws {
        guard remove else {
            for path in paths where FileKind.isFile(path) {
                let tracked = Self.isTracked(path, invocation.context)
                invocation.context.warn(
                    "plaintext-left",
                    "\(DisplayText.safe(path)) still holds the values in clear"
                        + (tracked ? ", and git tracks it." : "."))
            }
            return
        }
        try verify()
        for path in paths where FileKind.isFile(path) {
            guard unsafe unlink(path) == 0 else {
                throw CommandError(
                    .failed,
                    "The import is done, but \(DisplayText.safe(path)) could not be deleted.")
            }
            try invocation.note("Deleted \(path).")
        }
    }

    /// Asks git; a machine without it tracks nothing.
    private static func isTracked(_ path: String, _ context: Context) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let directory = parts.count > 1 ? parts.dropLast().joined(separator: "/") : "."
        let name = parts.last.map { String($0) } ?? path
        let process = try? ChildProcess.start(
            "git",
            [
                "git", "-C", directory.isEmpty ? "/" : directory, "ls-files", "--error-unmatch",
                "--", name,
            ],
            environment: context.rawEnvironment, input: .null, output: .null, error: .null,
            searchesPath: true)
        return process?.wait() == 0
    }
}
