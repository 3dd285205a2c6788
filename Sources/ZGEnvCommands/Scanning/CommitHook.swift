internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

/// Git's pre-commit hook that runs `scan --staged`.
struct CommitHook {
    /// The second line of our hooks. Other hooks are never replaced or removed.
    private static let mark = "# Made by: zg-env scan --install-hook"

    private let path: String
    private let command: String
    private let hooksPath: String?
    private let workspace: Workspace

    /// - Parameter hooksPath: The value of `--hooks-path`.
    init(_ choice: ScanOptions, hooksPath: String?, _ workspace: Workspace) throws {
        self.workspace = workspace
        self.hooksPath = hooksPath
        // Git resolves core.hooksPath, linked work trees and submodules.
        let git = GitProgram(workspace.context, asHook: true, reportsHooks: true)
        try git.checkRepository(
            hint: "Run the command inside the repository whose commits it should scan.")
        guard let path = try git.line(["rev-parse", "--git-path", "hooks/pre-commit"]) else {
            throw CommandError(
                .failed, "Git did not report the hooks directory of this repository.")
        }
        self.path = path
        try Self.checkPlace(of: path, hooksPath, git, workspace)
        command = try Self.words(choice, workspace).map(Self.quoted).joined(separator: " ")
    }

    /// Refuses a place outside the repository unless the user chose it, in the user's git config or
    /// with `--hooks-path`. The config of a repository may come from someone else.
    private static func checkPlace(
        of path: String, _ wanted: String?, _ git: GitProgram, _ workspace: Workspace
    ) throws {
        let named = RealPath.above(workspace.context.absolute(path)) ?? "/"
        // A path below a file, such as /dev/null/hooks, disables hooks and cannot be written.
        guard FileKind.isDirectory(named) || !FileKind.isTaken(named) else { return }
        let place = RealPath.ofMissing(named)
        if let wanted {
            guard place != nil, RealPath.ofMissing(workspace.context.absolute(wanted)) == place
            else {
                throw CommandError(
                    .conflict,
                    "This repository's hooks are in \(named), not \(wanted).")
            }
            return
        }
        if let place, try isOwn(place, git, workspace) { return }
        if let setting = try git.list([
            "config", "--null", "--show-scope", "--type=path", "--get", "core.hooksPath",
        ]), setting.count == 2, setting[1].first == 0x2F,
            ["system", "global", "command"].contains(String(decoding: setting[0], as: UTF8.self))
        {
            return
        }
        throw CommandError(
            .conflict,
            "This repository's hooks directory is outside the repository: \(named).",
            hint: "To use that directory, specify it with --hooks-path.")
    }

    /// Returns whether a place is in the work tree or in the git directory. Trusts only `.git` for
    /// these, because the config could declare any directory a work tree.
    private static func isOwn(
        _ place: String, _ git: GitProgram, _ workspace: Workspace
    ) throws -> Bool {
        let root = RepositoryRoot.nearest(to: workspace.context.workingDirectory)
        var directories = [root?.path, root.flatMap(Self.confirmedRepository)]
        // The environment is the user's choice; a `.git` file may not be.
        if ["GIT_DIR", "GIT_COMMON_DIR"].contains(where: { workspace.context.variable($0) != nil })
        {
            // These are relative to the working directory of git, which is that of this process.
            directories += try [
                git.line(["rev-parse", "--git-dir"]), git.line(["rev-parse", "--git-common-dir"]),
            ]
        }
        return directories.contains { directory in
            directory.flatMap(RealPath.of).map { RealPath.isWithin(place, $0) } ?? false
        }
    }

    /// Returns the git directory if more than a `.git` file confirms it: the repository lists this
    /// linked work tree, or contains it as the directory of a submodule.
    private static func confirmedRepository(_ root: RepositoryRoot) -> String? {
        guard let repository = root.repository else { return nil }
        if root.isLinkedWorkTree { return repository }
        let around = RealPath.above(root.path).flatMap { RepositoryRoot.nearest(to: $0) }
        return around?.repository.map { RealPath.isWithin(repository, $0) } == true
            ? repository : nil
    }

    private var text: String {
        """
        #!/bin/sh
        \(Self.mark)
        # Rejects a commit that contains a value from the vault.
        exec \(command)

        """
    }

    /// Installs the hook unless there is another one.
    func install() throws -> CommandResult {
        let isDry = workspace.options.dryRun
        try check()
        if !isDry {
            try write()
            let place = hooksPath.map { " --hooks-path \(word: $0)" }
            workspace.note(
                "Installed the pre-commit hook \(path). Remove it with: "
                    + "zg-env scan --remove-hook\(place ?? "")")
        }
        return result("installed", isDry ? text : "")
    }

    /// Removes the hook if zg-env installed it.
    func remove() throws -> CommandResult {
        guard FileKind.isTaken(path) else {
            throw CommandError(.notFound, "There is no pre-commit hook at \(path).")
        }
        try check()
        if !workspace.options.dryRun {
            guard unsafe unlink(path) == 0 else { throw failure("removed") }
            workspace.note("Removed the pre-commit hook \(path).")
        }
        return result("removed", "")
    }

    private func result(_ what: String, _ shown: String) -> CommandResult {
        CommandResult(
            json: [
                "path": .string(path), "hook": .string(text),
                "dryRun": .bool(workspace.options.dryRun),
                "installed": .bool(what == "installed" && !workspace.options.dryRun),
            ], text: shown)
    }

    private func check() throws {
        guard FileKind.isTaken(path) else { return }
        let isOwn =
            FileKind.isRegularItself(path)
            && SmallFile.text(path)?.hasPrefix("#!/bin/sh\n\(Self.mark)\n") == true
        guard isOwn else {
            throw CommandError(
                .conflict,
                "\(path) exists and was not installed by zg-env.",
                hint: "Add or remove this line manually: \(command) || exit $?")
        }
    }

    private func write() throws {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            let directory = String(path[..<slash])
            // If it exists and is not a directory, the write below fails with the reason.
            guard unsafe mkdir(directory, 0o777) == 0 || errno == EEXIST else {
                throw failure("written")
            }
        }
        let bytes = Array(text.utf8)
        do {
            // Executable for all regardless of the umask, as others may commit here too. Only a
            // hook that was checked before may be replaced.
            try FileReplacement.write(
                to: path, by: "pre-commit.zg-env-\(Identifier.random().hexadecimal)",
                permissions: 0o755, replaces: FileKind.isTaken(path)
            ) { file in try bytes.withBytes { try file.write($0) } }
        } catch FileReplacement.Failure.notConfirmed(let error) {
            throw CommandError(
                .failed,
                "\(path) was written, but could not be synced to disk: \(error.reason)."
            )
        } catch let error as FileReplacement.Failure {
            throw failure("written", error.cause)
        }
        guard SmallFile.bytes(path) == bytes, unsafe access(path, X_OK) == 0 else {
            throw failure("written")
        }
    }

    private func failure(_ what: String, _ error: SystemError = .last) -> CommandError {
        CommandError(
            .failed, "\(path) could not be \(what): \(error.reason).")
    }

    // MARK: The command

    /// Returns the words of the command: the real path of zg-env, and the options of this run.
    private static func words(
        _ choice: ScanOptions, _ workspace: Workspace
    ) throws -> [String] {
        guard let real = RealPath.of("/proc/self/exe") else {
            throw CommandError(.failed, "Cannot find the path of zg-env itself.")
        }
        let (options, context) = (workspace.options, workspace.context)
        var words = [real, "scan", "--staged"] + options.wordsOfAccess(context)
        // --all-projects wins over a project named in the environment.
        if let project = options.project, !choice.allProjects {
            words += ["-p", project]
        }
        return words + choice.words
    }

    private static func quoted(_ word: String) throws -> String {
        guard !word.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw CommandError(.usage, "A hook cannot contain a path with control characters.")
        }
        return ShellWord.singleQuoted(word)
    }
}
