internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

/// `notify install`: writes a systemd user unit for `notify run`.
struct NotifyInstall: Command {
    static let spec = CommandSpec(
        ["notify", "install"], "Write a systemd user unit for notify run",
        discussion: """
            Writes the unit without starting it, and prints the command that starts it. The \
            service opens the vault as notify run does: with the desktop keyring, or with the \
            passphrase file or key file specified with this command.
            """,
        options: [OptionSpec(flag: "force", "Replace a file that zg-env did not create")]
            + RefreshIntervals.options,
        examples: [
            .init("zg-env notify install --dry-run", "only print the unit"),
            .init("zg-env notify install", "write the unit"),
        ], exitCodes: [ExitCode.conflict.rawValue])
    static let fields =
        "path, unit: string; start: string (the command that starts the service); dryRun: boolean"

    /// The command that starts the service.
    private static let remedy =
        "systemctl --user daemon-reload && systemctl --user enable --now zg-env-notify"

    private let replaces: Bool
    /// The interval options, as arguments of `notify run`.
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
                .failed, "Cannot find your home directory, where the systemd unit is written.",
                hint: "Set HOME.")
        }
        let path = "\(directory)/\(NotifyUnit.name)"
        let text = try NotifyUnit(words: try words(workspace)).text()
        if !workspace.options.dryRun {
            try write(text, to: path, workspace)
            workspace.note("Wrote \(path). Start the service with:\n  \(Self.remedy)")
        }
        return CommandResult(
            json: [
                "path": .string(path), "unit": .string(text), "start": .string(Self.remedy),
                "dryRun": .bool(workspace.options.dryRun),
            ], text: workspace.options.dryRun ? text : "")
    }

    /// Returns the command line of the service: this program's real path, and the global options
    /// given here.
    private func words(_ workspace: Workspace) throws -> [String] {
        guard let real = RealPath.of("/proc/self/exe") else {
            throw CommandError(.failed, "Cannot find the path of the zg-env executable.")
        }
        // The service has none of the variables of this shell.
        var options = workspace.options
        _ = try VercelSession.namedOrigin(options)
        if workspace.context.variable("ZG_ENV_PASSPHRASE_COMMAND") != nil {
            workspace.context.warn(
                "passphrase-command",
                "The service does not get ZG_ENV_PASSPHRASE_COMMAND. Add it with: systemctl --user edit \(NotifyUnit.name)"
            )
        }
        options.passphraseFile =
            options.passphraseFile ?? workspace.context.variable("ZG_ENV_PASSPHRASE_FILE")
        return [real, "notify", "run"]
            + options.wordsOfAccess(workspace.context, namesVault: true) + intervals
    }

    private func write(_ text: String, to path: String, _ workspace: Workspace) throws {
        var status = stat()
        if unsafe lstat(path, &status) == 0, !replaces {
            let isFile = status.st_mode & S_IFMT == S_IFREG
            let isOwn = isFile && SmallFile.text(path)?.hasPrefix(NotifyUnit.mark + "\n") == true
            guard isOwn else {
                throw CommandError(
                    .conflict, "\(path) already exists, and zg-env did not create it.",
                    hint: "Use --force to replace the file.")
            }
        }
        try workspace.context.files.prepareDirectory(of: path)
        let bytes = Array(text.utf8)
        try bytes.withBytes { try PrivateFile.write($0, to: path, replaces: true) }
        guard SmallFile.bytes(path) == bytes else {
            throw CommandError(
                .failed, "The content of \(path) differs from what zg-env wrote.",
                hint: "Check the file before starting the service.")
        }
    }
}
