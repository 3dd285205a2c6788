internal import DotEnv
internal import EnvOperations
internal import Glibc
internal import SystemFiles

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
    /// - Returns: That files are left which were to be deleted.
    func finish(
        _ plan: ImportPlan, _ workspace: Workspace, verify: () throws -> Void
    ) throws -> CommandError? {
        if remove { try verify() }
        var kept: [String] = []
        for path in paths {
            guard FileKind.isFile(path) else {
                if remove {
                    workspace.context.warn(
                        "plaintext-kept", "\(path) was kept: it is no file that can be removed.")
                }
                continue
            }
            if remove {
                if let obstacle = obstacle(to: path, plan) ?? Self.delete(path) {
                    workspace.context.warn("plaintext-kept", "\(path) was kept: \(obstacle).")
                    kept.append(path)
                } else {
                    workspace.note("Deleted \(path).")
                }
            } else if source.keys.isEmpty == false {
                workspace.context.warn(
                    "plaintext-left",
                    "\(path) still holds the values in clear"
                        + Self.tracking(of: path, workspace.context))
            }
        }
        guard !kept.isEmpty else { return nil }
        return CommandError(
            .failed,
            "The import is done, but \(kept.joined(separator: ", ")) "
                + "\(kept.count == 1 ? "was" : "were") not deleted.",
            hint: "What is still there holds values in clear: delete it by hand.")
    }

    /// - Returns: Why it could not be deleted.
    private static func delete(_ path: String) -> String? {
        guard unsafe unlink(path) != 0 else { return nil }
        return SystemError.last.reason
    }

    /// Why a file must stay: something of it may be nowhere else.
    private func obstacle(to path: String, _ plan: ImportPlan) -> String? {
        guard let stamp = source.files[path] else { return "it is no regular file" }
        guard FileFacts(regularFile: path) == stamp else {
            return "it was changed since it was read"
        }
        guard stamp.nameCount == 1 else {
            return "it has another name (a hard link), under which the values would stay in clear; "
                + "find it with: find DIR -samefile FILE"
        }
        if !plan.keys(.skipped).isEmpty { return "some of its values were skipped" }
        if source.findings.contains(where: { $0.diagnostic.code.isIgnored }) {
            return "some of its lines were not read"
        }
        return nil
    }

    /// Asks git whether it tracks a file, and ends a sentence with the answer; a machine without git
    /// tracks nothing.
    private static func tracking(of path: String, _ context: Context) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let directory = parts.count > 1 ? parts.dropLast().joined(separator: "/") : "."
        let name = parts.last.map { String($0) } ?? path
        let git = GitProgram(
            context, in: directory.isEmpty ? "/" : directory, ["--literal-pathspecs"])
        do {
            let found = try git.output(["ls-files", "--error-unmatch", "--", name])
            return found == nil ? "." : ", and git tracks it."
        } catch is GitProgram.NoAnswer {
            return ". Git gave no answer whether it tracks the file."
        } catch {
            return "."
        }
    }
}
