internal import CommandLineKit
internal import DotEnv
internal import Glibc

/// The hook of git that looks at what is staged before a commit.
struct CommitHook {
    /// The second line of hooks that were made here: only those are replaced or removed.
    private static let mark = "# Made by: zg-env scan --install-hook"

    private let path: String
    private let command: String
    private let invocation: Invocation

    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        // Git knows of core.hooksPath, of work trees beside the first one, and of submodules.
        let git = GitProgram(invocation.context, asHook: true)
        try git.checkRepository(hint: "Go into the one whose commits are to be looked at.")
        guard let path = try git.line(["rev-parse", "--git-path", "hooks/pre-commit"]) else {
            throw CommandError(.failed, "Git does not say where this repository's hooks are.")
        }
        self.path = path
        command = try Self.words(invocation).map(Self.quoted).joined(separator: " ")
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
        let isDry = invocation.options.dryRun
        try check()
        if !isDry { try write() }
        if !isDry {
            try invocation.note(
                "Wrote \(path). Commits of this repository are looked at from now on; take it out "
                    + "with: zg-env scan --remove-hook")
        }
        return result("installed", isDry ? text : "")
    }

    /// Takes the hook out, where it was made here.
    func remove() throws -> CommandResult {
        guard FileKind.isTaken(path) else {
            throw CommandError(.notFound, "There is no hook at \(DisplayText.safe(path)).")
        }
        try check()
        if !invocation.options.dryRun {
            guard unsafe unlink(path) == 0 else { throw failure("removed") }
            try invocation.note("Removed \(path).")
        }
        return result("removed", "")
    }

    private func result(_ what: String, _ shown: String) -> CommandResult {
        CommandResult(
            json: [
                "path": .string(path), "hook": .string(text),
                "dryRun": .bool(invocation.options.dryRun),
                "installed": .bool(what == "installed" && !invocation.options.dryRun),
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
                "\(DisplayText.safe(path)) is there, and zg-env did not make it. It was left as it is.",
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
        let temporary = "\(path).zg-env-\(getpid())"
        let bytes = Array(text.utf8)
        let descriptor = unsafe open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o755)
        guard descriptor >= 0 else { throw failure("written") }
        let written = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
        // Whatever the umask: others who commit here run it too.
        let isDone =
            written == bytes.count && fchmod(descriptor, 0o755) == 0 && fsync(descriptor) == 0
        var error = failure("written")
        close(descriptor)
        // A link fails where something came in between; ours may be replaced.
        let isNew = !FileKind.isTaken(path)
        var isNamed = false
        if isDone {
            isNamed = (isNew ? unsafe link(temporary, path) : unsafe rename(temporary, path)) == 0
            error = failure("written")
        }
        if isNew || !isNamed { unsafe unlink(temporary) }
        guard isNamed, SmallFile.bytes(path) == bytes, unsafe access(path, X_OK) == 0 else {
            throw error
        }
    }

    private func failure(_ what: String) -> CommandError {
        CommandError(
            .failed,
            "\(DisplayText.safe(path)) could not be \(what): \(FileWalk.reason(errno)).")
    }

    // MARK: The command

    /// The program by its real path, and what it needs to be told of what was told here.
    private static func words(_ invocation: Invocation) throws -> [String] {
        guard let real = RealPath.of("/proc/self/exe") else {
            throw CommandError(.failed, "The place of zg-env itself cannot be found.")
        }
        let (options, command) = (invocation.options, invocation.command)
        func absolute(_ path: String) -> String {
            path.hasPrefix("/") ? path : "\(invocation.context.workingDirectory)/\(path)"
        }
        var words = [real, "scan", "--staged"]
        if options.vaultPath != (try? Directories(invocation.context).vault) {
            words += ["--vault", absolute(options.vaultPath)]
        }
        // One that the environment names gives way to all.
        if let project = options.project, !command.has("all-projects") {
            words += ["-p", project]
        }
        if let file = options.passphraseFile { words += ["--passphrase-file", absolute(file)] }
        if let file = options.keyFile { words += ["--key-file", absolute(file)] }
        for name in ["all-projects", "history"] where command.has(name) {
            words.append("--\(name)")
        }
        for name in ["min-length", "except"] {
            for value in command.values(name) { words += ["--\(name)", value] }
        }
        return words
    }

    private static func quoted(_ word: String) throws -> String {
        guard !word.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw CommandError(.usage, "A path with control characters cannot stand in a hook.")
        }
        return ShellWord.singleQuoted(word)
    }
}
