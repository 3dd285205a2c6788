internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Glibc

/// The files an import came from: still there in clear, or deleted once the vault was read back.
struct PlaintextFiles {
    private let paths: [String]
    private let source: PlaintextSource
    private let remove: Bool

    init(_ paths: [String], source: PlaintextSource, remove: Bool) {
        self.paths = paths.filter { $0 != "-" }
        self.source = source
        self.remove = remove
    }

    /// Names the files that are left, or deletes those whose values are all in the vault.
    ///
    /// - Parameter verify: Reads the vault back.
    func finish(_ plan: ImportPlan, _ invocation: Invocation, verify: () throws -> Void) throws {
        if remove { try verify() }
        for path in paths {
            let shown = DisplayText.safe(path)
            guard FileKind.isFile(path) else {
                if remove {
                    invocation.context.warn(
                        "plaintext-kept", "\(shown) was kept: it is no file that can be removed.")
                }
                continue
            }
            if remove, let obstacle = obstacle(to: path, plan) {
                invocation.context.warn("plaintext-kept", "\(shown) was kept: \(obstacle).")
            } else if remove {
                guard unsafe unlink(path) == 0 else {
                    throw CommandError(
                        .failed, "The import is done, but \(shown) could not be deleted.",
                        hint: "It still holds the values in clear; delete it by hand.")
                }
                try invocation.note("Deleted \(path).")
            } else if source.keys.isEmpty == false {
                let tracked = Self.isTracked(path, invocation.context)
                invocation.context.warn(
                    "plaintext-left",
                    "\(shown) still holds the values in clear"
                        + (tracked ? ", and git tracks it." : "."))
            }
        }
    }

    /// Why a file must stay: something of it may be nowhere else.
    private func obstacle(to path: String, _ plan: ImportPlan) -> String? {
        guard let stamp = source.files[path] else { return "it is no regular file" }
        guard FileStamp(path) == stamp else { return "it was changed since it was read" }
        if !plan.keys(.skipped).isEmpty { return "some of its values were skipped" }
        if source.findings.contains(where: { $0.diagnostic.code.isIgnored }) {
            return "some of its lines were not read"
        }
        return nil
    }

    /// Asks git; a machine without it tracks nothing.
    private static func isTracked(_ path: String, _ context: Context) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let directory = parts.count > 1 ? parts.dropLast().joined(separator: "/") : "."
        let name = parts.last.map { String($0) } ?? path
        let git = GitProgram(
            context, in: directory.isEmpty ? "/" : directory, ["--literal-pathspecs"])
        return (try? git.output(["ls-files", "--error-unmatch", "--", name])) ?? nil != nil
    }
}
