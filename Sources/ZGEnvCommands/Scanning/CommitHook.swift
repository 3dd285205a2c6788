internal import DotEnv
internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

/// The hook of git that looks at what is staged before a commit.
struct CommitHook {
    /// The second line of hooks that were made here: only those are replaced or removed.
    private static let mark = "# Made by: zg-env scan --install-hook"

    private let path: String
    private let command: String
    private let hooksPath: String?
    private let workspace: Workspace

    /// - Parameter hooksPath: `--hooks-path`: where the user says that hooks are.
    init(_ choice: ScanChoice, hooksPath: String?, _ workspace: Workspace) throws {
        self.workspace = workspace
        self.hooksPath = hooksPath
        // Git knows of core.hooksPath, of work trees beside the first one, and of submodules.
        let git = GitProgram(workspace.context, asHook: true, namesHooks: true)
        try git.checkRepository(hint: "Go into the one whose commits are to be looked at.")
        guard let path = try git.line(["rev-parse", "--git-path", "hooks/pre-commit"]) else {
            throw CommandError(.failed, "Git does not say where this repository's hooks are.")
        }
        self.path = path
        try Self.checkPlace(of: path, hooksPath, git, workspace)
        command = try Self.words(choice, workspace).map(Self.quoted).joined(separator: " ")
    }

    /// Refuses a place outside of the repository, unless it comes from the user: from the user's own
    /// settings of git, or from `--hooks-path`. Those of a repository may come with it.
    private static func checkPlace(
        of path: String, _ wanted: String?, _ git: GitProgram, _ workspace: Workspace
    ) throws {
        func absolute(_ path: String) -> String {
            path.hasPrefix("/") ? path : "\(workspace.context.workingDirectory)/\(path)"
        }
        let named = RealPath.above(absolute(path)) ?? "/"
        // Nothing can be written below a file, which is what switches hooks off.
        guard FileKind.isDirectory(named) || !FileKind.isTaken(named) else { return }
        let place = RealPath.ofFuture(named)
        if let wanted {
            guard place != nil, RealPath.ofFuture(absolute(wanted)) == place else {
                throw CommandError(
                    .conflict,
                    "Git looks for the hooks of this repository in \(named), not in "
                        + "\(wanted).", hint: "Nothing was changed.")
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
            "The hooks of this repository are placed outside of it: in "
                + "\(named).",
            hint: "Nothing was changed. Name that directory with --hooks-path if you mean it.")
    }

    /// Whether a place is in the work tree or where git keeps the repository. `.git` says where they are,
    /// and not the settings, which could name any directory a work tree.
    private static func isOwn(
        _ place: String, _ git: GitProgram, _ workspace: Workspace
    ) throws -> Bool {
        let root = RepositoryRoot.nearest(to: workspace.context.workingDirectory)
        var directories = [root?.path, root.flatMap(Self.confirmedRepository)]
        // What the user's environment names is the user's choice; a `.git` file is not.
        if ["GIT_DIR", "GIT_COMMON_DIR"].contains(where: { workspace.context.variable($0) != nil })
        {
            // Those are relative to where git was started, which is where this process is.
            directories += try [
                git.line(["rev-parse", "--git-dir"]), git.line(["rev-parse", "--git-common-dir"]),
            ]
        }
        return directories.contains { directory in
            directory.flatMap(RealPath.of).map { RealPath.isWithin(place, $0) } ?? false
        }
    }

    /// Where git keeps the repository, if more than a `.git` file says so: the repository knows of the
    /// further work tree, or it is a submodule's, which is kept in the repository around it.
    private static func confirmedRepository(_ root: RepositoryRoot) -> String? {
        guard let repository = root.repository else { return nil }
        if root.isFurtherWorkTree { return repository }
        let around = RealPath.above(root.path).flatMap { RepositoryRoot.nearest(to: $0) }
        return around?.repository.map { RealPath.isWithin(repository, $0) } == true
            ? repository : nil
    }

    private var text: String {
        """
        #!/bin/sh
        \(Self.mark)
        # Stops a commit that would hold a value of the vault.
        exec \(command)

        """
    }

    /// Writes the hook, where none is that was not made here.
    func install() throws -> CommandResult {
        let isDry = workspace.options.dryRun
        try check()
        if !isDry { try write() }
        if !isDry {
            let place = hooksPath.map { " --hooks-path \(word: $0)" }
            workspace.note(
                "Wrote \(path). Commits of this repository are looked at from now on; take it out "
                    + "with: zg-env scan --remove-hook\(place ?? "")")
        }
        return result("installed", isDry ? text : "")
    }

    /// Takes the hook out, where it was made here.
    func remove() throws -> CommandResult {
        guard FileKind.isTaken(path) else {
            throw CommandError(.notFound, "There is no hook at \(path).")
        }
        try check()
        if !workspace.options.dryRun {
            guard unsafe unlink(path) == 0 else { throw failure("removed") }
            workspace.note("Removed \(path).")
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
                "\(path) is there, and zg-env did not make it. It was left as it is.",
                hint: "Add or take out this line by hand: \(command) || exit $?")
        }
    }

    private func write() throws {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            let directory = String(path[..<slash])
            // What is there and is no directory, the next step names.
            guard unsafe mkdir(directory, 0o777) == 0 || errno == EEXIST else {
                throw failure("written")
            }
        }
        let bytes = Array(text.utf8)
        do {
            // Whatever the umask: others who commit here run it too. One that was not here when it was looked for
            // stays; ours may be replaced.
            try FileReplacement.write(
                to: path, by: "pre-commit.zg-env-\(Identifier.random().hexadecimal)",
                permissions: 0o755, replaces: FileKind.isTaken(path)
            ) { file in try bytes.withBytes { try file.write($0) } }
        } catch FileReplacement.Failure.notConfirmed(let error) {
            throw CommandError(
                .failed,
                "\(path) was written, but the disk did not confirm it: \(error.reason)."
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

    /// The program by its real path, and what it needs to be told of what was told here.
    private static func words(
        _ choice: ScanChoice, _ workspace: Workspace
    ) throws -> [String] {
        guard let real = RealPath.of("/proc/self/exe") else {
            throw CommandError(.failed, "The place of zg-env itself cannot be found.")
        }
        let options = workspace.options
        func absolute(_ path: String) -> String {
            path.hasPrefix("/") ? path : "\(workspace.context.workingDirectory)/\(path)"
        }
        var words = [real, "scan", "--staged"]
        if options.vaultPath != (try? Directories(workspace.context).vault) {
            words += ["--vault", absolute(options.vaultPath)]
        }
        // One that the environment names gives way to all.
        if let project = options.project, !choice.allProjects {
            words += ["-p", project]
        }
        if let file = options.passphraseFile { words += ["--passphrase-file", absolute(file)] }
        if let file = options.keyFile { words += ["--key-file", absolute(file)] }
        return words + choice.words
    }

    private static func quoted(_ word: String) throws -> String {
        guard !word.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw CommandError(.usage, "A path with control characters cannot stand in a hook.")
        }
        return ShellWord.singleQuoted(word)
    }
}
