internal import CommandLineKit
internal import Glibc
internal import Vault

enum OutputPath {
    static let option = OptionSpec(
        "output", short: "o", value: "FILE", "Write to FILE instead of stdout", completion: .file)
    static let force = OptionSpec(flag: "force", "Replace an existing file")

    /// Refuses `--force` without a file to replace.
    static func checkOptions(_ command: ParsedCommand) throws {
        guard command.value("output") != nil || !command.has("force") else {
            throw CommandError(.usage, "--force needs -o FILE.", hint: "Leave it out.")
        }
    }

    /// Checks that `-o` would replace neither a device nor a file that the vault needs.
    ///
    /// - Throws: ``ExitCode/usage``.
    static func check(_ path: String, _ workspace: Workspace) throws {
        guard path != "-" else {
            throw CommandError(
                .usage, "-o needs a file.", hint: "Leave out -o to write to stdout.")
        }
        var target = stat()
        guard unsafe stat(path, &target) == 0 else { return }
        guard target.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(
                .usage, "\(path) is not a regular file.",
                hint: "Leave out -o to write to stdout.")
        }
        try checkIsNotVaultFile(path, workspace)
    }

    /// Checks that a file is not one of the vault: replacing it would damage the vault.
    ///
    /// - Throws: ``ExitCode/usage``.
    static func checkIsNotVaultFile(_ path: String, _ workspace: Workspace) throws {
        var target = stat()
        guard unsafe stat(path, &target) == 0 else { return }
        let (options, context) = (workspace.options, workspace.context)
        let vaultID = try? workspace.session.opened().header.vaultID
        let kept = [
            options.vaultPath, options.vaultPath + ".lock", options.passphraseFile,
            context.variable("ZG_ENV_PASSPHRASE_FILE"), options.keyFile,
            (try? workspace.session.auditLog())?.path ?? options.auditLogPath,
            vaultID.flatMap { RollbackGuards(context, path: options.vaultPath).file(of: $0) },
        ].compactMap { $0 }
        for file in kept {
            var other = stat()
            guard unsafe stat(file, &other) == 0 else { continue }
            guard other.st_dev != target.st_dev || other.st_ino != target.st_ino else {
                throw CommandError(
                    .usage,
                    "\(path) belongs to the vault: it is the vault file, a lock, a log or a key.",
                    hint: "Choose another file.")
            }
        }
    }
}
