internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Glibc
internal import SystemFiles

/// The imported files, which are deleted after the vault is verified, or reported.
struct PlaintextFiles {
    private let paths: [String]
    private let content: ImportContent
    private let remove: Bool
    private var source: PlaintextSource { content.source }

    init(_ paths: [String], _ content: ImportContent, remove: Bool) {
        self.paths = paths.filter { $0 != "-" }
        self.content = content
        self.remove = remove
    }

    /// Warns about the files, or deletes those whose values are all in the vault.
    ///
    /// - Parameter verify: Verifies the vault; called before anything is deleted.
    /// - Returns: An error if a file could not be deleted.
    func finish(
        _ plan: ImportPlan, _ workspace: Workspace, verify: () throws -> Void
    ) throws -> CommandError? {
        if remove { try verify() }
        var kept: [String] = []
        for path in paths {
            guard FileKind.isFile(path) else {
                if remove {
                    workspace.context.warn(
                        "plaintext-kept", "\(path) was not deleted: it is not a regular file.")
                }
                continue
            }
            if remove {
                if let obstacle = obstacle(to: path, plan) ?? Self.delete(path) {
                    workspace.context.warn(
                        "plaintext-kept", "\(path) was not deleted: \(obstacle).")
                    kept.append(path)
                } else {
                    let comments = source.droppedComments[path] ?? 0
                    let lines = DisplayText.count(comments, "comment line")
                    workspace.note(
                        comments == 0
                            ? "Deleted \(path)."
                            : "Deleted \(path), with \(lines) that import leaves out.")
                }
            } else {
                workspace.context.warn(
                    "plaintext-left",
                    "\(path) is still on disk in plain text"
                        + Self.tracking(of: path, workspace.context)
                        + " Delete it, or import with --remove.")
            }
        }
        guard !kept.isEmpty else { return nil }
        return CommandError(
            .failed,
            "The values were imported, but \(kept.joined(separator: ", ")) "
                + "\(kept.count == 1 ? "was" : "were") not deleted.",
            hint:
                "Keep what was not imported, then delete the files: they contain values in plain text."
        )
    }

    /// Deletes a file; returns the reason if that fails.
    private static func delete(_ path: String) -> String? {
        guard unsafe unlink(path) != 0 else { return nil }
        return SystemError.last.reason
    }

    /// Returns why a file must not be deleted, such as content that was not imported; nil if it may.
    private func obstacle(to path: String, _ plan: ImportPlan) -> String? {
        guard let stamp = source.files[path] else { return "it is not a regular file" }
        guard FileFacts(regularFile: path) == stamp else {
            return "it has changed since it was read"
        }
        guard stamp.hardLinkCount == 1 else {
            return "it has another hard link, which would keep the values in plain text; "
                + "find it with: find DIR -samefile FILE"
        }
        if !plan.keys(.skipped).isEmpty || content.leftOut[.system] != nil {
            return "some of its values were skipped"
        }
        if source.findings.contains(where: { $0.diagnostic.code == .cutValue }) {
            return "some of its values are cut at a line break"
        }
        if source.findings.contains(where: { $0.diagnostic.code.isIgnored }) {
            return "some of its lines were ignored"
        }
        if source.findings.contains(where: { $0.diagnostic.code == .truncated }) {
            return "some of its lines may have been ignored: there are too many diagnostics"
        }
        if content.hasReplacedValue(path, plan) {
            return "a later line or file sets some of its variables to different values"
        }
        return nil
    }

    /// Returns the end of a sentence that says whether git tracks a file.
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
            return ". Git did not report whether it tracks the file."
        } catch {
            return "."
        }
    }
}
