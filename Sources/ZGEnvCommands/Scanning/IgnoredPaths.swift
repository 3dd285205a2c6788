internal import CLinux
internal import Glibc

/// What git ignores below a directory and does not track: git itself is asked, which knows `.gitignore`
/// at every level, `.git/info/exclude` and the user's own list.
struct IgnoredPaths {
    private let context: Context
    private let warn: (String, String) -> Void

    init(_ workspace: Workspace) {
        context = workspace.context
        warn = { workspace.context.warn($0, $1) }
    }

    private static let question = [
        "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z",
    ]

    /// Paths within `directory`, without a slash at their ends.
    ///
    /// Empty, with a warning, where git is not to be had or fails: then everything is looked at.
    func paths(in directory: String) -> Set<[UInt8]> {
        do {
            let found =
                try isInRepository(directory)
                ? GitProgram(context, in: directory).list(Self.question)
                : listWithoutRepository(directory)
            guard let found else {
                warn(
                    "not-ignored",
                    "Git cannot say what it ignores in \(directory): every file "
                        + "there is looked at.")
                return []
            }
            return Set(found.map { Array($0.last == 0x2F ? $0.dropLast() : $0) })
        } catch is GitProgram.NoAnswer {
            warn(
                "not-ignored",
                "Git gives no answer about what it ignores in \(directory): every "
                    + "file there is looked at.")
            return []
        } catch {
            warn(
                "not-ignored",
                "There is no git to read .gitignore with: every file is looked at.")
            return []
        }
    }

    private func isInRepository(_ directory: String) -> Bool {
        guard let path = RealPath.of(directory) else { return true }
        return RepositoryRoot.nearest(to: path) != nil
    }

    /// The rules of git for a directory that is in no repository: an empty one stands in for it.
    private func listWithoutRepository(_ directory: String) throws -> [ArraySlice<UInt8>]? {
        guard let root = RealPath.of(directory) else { return nil }
        let parent = context.variable("TMPDIR") ?? "/tmp"
        var template = Array("\(parent)/zg-env-ignored-XXXXXX".utf8CString)
        // Nothing is to be left behind.
        zg_interrupts_defer()
        defer {
            zg_interrupts_resume()
            zg_end_if_interrupted()
        }
        guard
            let repository = unsafe template.withUnsafeMutableBufferPointer({ buffer in
                unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map {
                    unsafe String(cString: $0)
                }
            })
        else { return nil }
        defer {
            unsafe unlink(repository + "/HEAD")
            for name in ["/objects", "/refs", ""] { unsafe rmdir(repository + name) }
        }
        for name in ["/objects", "/refs"] { unsafe mkdir(repository + name, 0o700) }
        let head = unsafe open(repository + "/HEAD", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard head >= 0 else { return nil }
        let text = "ref: refs/heads/none\n"
        let written = unsafe write(head, text, text.utf8.count)
        close(head)
        guard written == text.utf8.count else { return nil }
        return try GitProgram(
            context, in: root, ["--git-dir=\(repository)", "--work-tree=\(root)"]
        ).list(Self.question)
    }
}
