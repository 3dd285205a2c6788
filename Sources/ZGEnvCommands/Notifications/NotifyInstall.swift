internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Sealing
internal import Vault

/// `notify install`: writes the systemd user unit of `notify run`.
enum NotifyInstall: Command {
    static let spec = CommandSpec(
        ["notify", "install"], "Write a systemd user unit for notify run", section: "Platform",
        discussion: """
            The unit is written and nothing is started; how to start it is said. It opens the vault as \
            notify run does: with the desktop's keyring, or with the passphrase file or key file that \
            is named here.
            """,
        options: [OptionSpec(flag: "force", "Replace a file that zg-env did not make")]
            + NotifyRun.intervalOptions,
        examples: [
            .init("zg-env notify install --dry-run", "see the unit"),
            .init("zg-env notify install", "write it"),
        ], exitCodes: [ExitCode.conflict.rawValue])

    /// What starts it.
    private static let remedy =
        "systemctl --user daemon-reload && systemctl --user enable --now zg-env-notify"

    static func run(_ invocation: Invocation) throws -> CommandResult {
        _ = try NotifyRun.intervals(invocation.command)
        guard let directory = Directories(invocation.context).userUnits else {
            throw CommandError(
                .failed, "There is no home directory to keep units in.", hint: "Set HOME.")
        }
        let path = "\(directory)/\(NotifyUnit.name)"
        let text = try NotifyUnit(words: try words(invocation)).text()
        if !invocation.options.dryRun {
            try write(text, to: path, invocation)
            try invocation.note("Wrote \(path). Nothing was started; start it with:\n  \(remedy)")
        }
        return CommandResult(
            json: [
                "path": .string(path), "unit": .string(text), "start": .string(remedy),
                "dryRun": .bool(invocation.options.dryRun),
            ], text: invocation.options.dryRun ? text : "")
    }

    /// The program by its real path, and what it needs to be told of what was told here.
    private static func words(_ invocation: Invocation) throws -> [String] {
        guard let real = unsafe realpath("/proc/self/exe", nil) else {
            throw CommandError(.failed, "The place of zg-env itself cannot be found.")
        }
        defer { unsafe free(real) }
        let options = invocation.options
        var words = [unsafe String(cString: real), "notify", "run"]
        if options.vaultPath != (try? Directories(invocation.context).vault) {
            words += ["--vault", absolute(options.vaultPath, invocation)]
        }
        if let file = options.passphraseFile {
            words += ["--passphrase-file", absolute(file, invocation)]
        }
        if let file = options.keyFile { words += ["--key-file", absolute(file, invocation)] }
        for option in NotifyRun.intervalOptions {
            if let value = invocation.command.value(option.name) {
                words += ["--\(option.name)", value]
            }
        }
        return words
    }

    private static func absolute(_ path: String, _ invocation: Invocation) -> String {
        path.hasPrefix("/") ? path : "\(invocation.context.workingDirectory)/\(path)"
    }

    private static func write(_ text: String, to path: String, _ invocation: Invocation) throws {
        var status = stat()
        if unsafe lstat(path, &status) == 0, !invocation.command.has("force") {
            let isFile = status.st_mode & S_IFMT == S_IFREG
            let isOwn = isFile && SmallFile.text(path)?.hasPrefix(NotifyUnit.mark + "\n") == true
            guard isOwn else {
                throw CommandError(
                    .conflict, "\(DisplayText.safe(path)) is there, and zg-env did not make it.",
                    hint: "It was left as it is. Say --force to replace it.")
            }
        }
        try invocation.context.files.prepareDirectory(of: path)
        let bytes = Array(text.utf8)
        try bytes.withBytes { try PrivateFile.write($0, to: path, replaces: true) }
        guard SmallFile.bytes(path) == bytes else {
            throw CommandError(
                .failed, "\(DisplayText.safe(path)) does not hold what was written to it.",
                hint: "Look at that file before you start it.")
        }
    }
}
