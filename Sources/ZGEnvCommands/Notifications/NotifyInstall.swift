internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import Vault

/// `notify install`: writes the systemd user unit of `notify run`.
struct NotifyInstall: Command {
    static let spec = CommandSpec(
        ["notify", "install"], "Write a systemd user unit for notify run", section: "Platform",
        discussion: """
            The unit is written and nothing is started; how to start it is said. It opens the vault as \
            notify run does: with the desktop's keyring, or with the passphrase file or key file that \
            is named here.
            """,
        options: [OptionSpec(flag: "force", "Replace a file that zg-env did not make")]
            + RefreshIntervals.options,
        examples: [
            .init("zg-env notify install --dry-run", "see the unit"),
            .init("zg-env notify install", "write it"),
        ], exitCodes: [ExitCode.conflict.rawValue])

    /// What starts it.
    private static let remedy =
        "systemctl --user daemon-reload && systemctl --user enable --now zg-env-notify"

    private let replaces: Bool
    /// The intervals, as words of `notify run`.
    private let intervals: [String]

    init(_ command: ParsedCommand) throws {
        replaces = command.has("force")
        _ = try RefreshIntervals(command)
        intervals = RefreshIntervals.options.flatMap { option in
            command.value(option.name).map { ["--\(option.name)", $0] } ?? []
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        guard let directory = Directories(workspace.context).userUnits else {
            throw CommandError(
                .failed, "There is no home directory to keep units in.", hint: "Set HOME.")
        }
        let path = "\(directory)/\(NotifyUnit.name)"
        let text = try NotifyUnit(words: try words(workspace)).text()
        if !workspace.options.dryRun {
            try write(text, to: path, workspace)
            workspace.note("Wrote \(path). Nothing was started; start it with:\n  \(Self.remedy)")
        }
        return CommandResult(
            json: [
                "path": .string(path), "unit": .string(text), "start": .string(Self.remedy),
                "dryRun": .bool(workspace.options.dryRun),
            ], text: workspace.options.dryRun ? text : "")
    }

    /// The program by its real path, and what it needs to be told of what was told here.
    private func words(_ workspace: Workspace) throws -> [String] {
        guard let real = unsafe realpath("/proc/self/exe", nil) else {
            throw CommandError(.failed, "The place of zg-env itself cannot be found.")
        }
        defer { unsafe free(real) }
        let options = workspace.options
        var words = [unsafe String(cString: real), "notify", "run"]
        if options.vaultPath != (try? Directories(workspace.context).vault) {
            words += ["--vault", absolute(options.vaultPath, workspace)]
        }
        if let file = options.passphraseFile {
            words += ["--passphrase-file", absolute(file, workspace)]
        }
        if let file = options.keyFile { words += ["--key-file", absolute(file, workspace)] }
        return words + intervals
    }

    private func absolute(_ path: String, _ workspace: Workspace) -> String {
        path.hasPrefix("/") ? path : "\(workspace.context.workingDirectory)/\(path)"
    }

    private func write(_ text: String, to path: String, _ workspace: Workspace) throws {
        var status = stat()
        if unsafe lstat(path, &status) == 0, !replaces {
            let isFile = status.st_mode & S_IFMT == S_IFREG
            let isOwn = isFile && SmallFile.text(path)?.hasPrefix(NotifyUnit.mark + "\n") == true
            guard isOwn else {
                throw CommandError(
                    .conflict, "\(path) is there, and zg-env did not make it.",
                    hint: "It was left as it is. Say --force to replace it.")
            }
        }
        try workspace.context.files.prepareDirectory(of: path)
        let bytes = Array(text.utf8)
        try bytes.withBytes { try PrivateFile.write($0, to: path, replaces: true) }
        guard SmallFile.bytes(path) == bytes else {
            throw CommandError(
                .failed, "\(path) does not hold what was written to it.",
                hint: "Look at that file before you start it.")
        }
    }
}
