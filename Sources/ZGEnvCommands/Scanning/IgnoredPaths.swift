internal import CLinux
internal import Glibc
internal import SystemFiles

/// The ignored, untracked paths below a directory, as listed by git, which knows `.gitignore` at
/// every level, `.git/info/exclude` and the user's list.
struct IgnoredPaths {
    private let context: Context

    init(_ workspace: Workspace) { context = workspace.context }

    private static let question = [
        "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z",
    ]

    /// Returns paths relative to `directory`, without trailing slashes.
    ///
    /// If git is missing or fails, warns and returns nothing, so that every file is scanned.
    func paths(in directory: String) -> Set<[UInt8]> {
        do {
            let found =
                try isInRepository(directory)
                ? GitProgram(context, in: directory).list(Self.question)
                : listWithoutRepository(directory)
            guard let found else {
                context.warn(
                    "not-ignored",
                    "Git failed to list the ignored files in \(directory): scanning all files there."
                )
                return []
            }
            return Set(found.map { Array($0.last == 0x2F ? $0.dropLast() : $0) })
        } catch is GitProgram.NoAnswer {
            context.warn(
                "not-ignored",
                "Git did not respond in \(directory): scanning ignored files there too.")
            return []
        } catch {
            context.warn(
                "not-ignored",
                "Git is not installed: scanning all files, including those in .gitignore.")
            return []
        }
    }

    private func isInRepository(_ directory: String) -> Bool {
        guard let path = RealPath.of(directory) else { return true }
        return RepositoryRoot.nearest(to: path) != nil
    }

    /// Lists the ignored paths outside a repository, with a temporary empty repository.
    private func listWithoutRepository(_ directory: String) throws -> [ArraySlice<UInt8>]? {
        guard let root = RealPath.of(directory) else { return nil }
        let parent = context.variable("TMPDIR") ?? "/tmp"
        // Signals wait until the temporary repository is deleted.
        zg_interrupts_defer()
        defer {
            zg_interrupts_resume()
            zg_end_if_interrupted()
        }
        guard let repository = try? PrivateDirectory(in: parent, prefix: "zg-env-ignored-") else {
            return nil
        }
        defer { try? repository.remove() }
        for name in ["objects", "refs"] { unsafe mkdir("\(repository.path)/\(name)", 0o700) }
        do throws(SystemError) {
            let head = try OpenFile("\(repository.path)/HEAD", O_WRONLY | O_CREAT | O_EXCL)
            try unsafe head.write("ref: refs/heads/none\n".utf8.span.bytes)
            try head.close()
        } catch {
            return nil
        }
        return try GitProgram(
            context, in: root, ["--git-dir=\(repository.path)", "--work-tree=\(root)"]
        ).list(Self.question)
    }
}
