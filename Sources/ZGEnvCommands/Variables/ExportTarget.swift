internal import Glibc

/// Where `export -o` may write: never over what opens or holds the vault, nor over a device.
enum ExportTarget {
    /// - Throws: ``ExitCode/usage`` before anything is asked or opened.
    static func check(_ path: String, _ workspace: Workspace) throws {
        guard path != "-" else {
            throw CommandError(
                .usage, "export writes to stdout without -o.", hint: "Leave out -o, or name a file."
            )
        }
        var target = stat()
        guard unsafe stat(path, &target) == 0 else { return }
        guard target.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(
                .usage, "\(path) is no regular file, and would be replaced by one.",
                hint: "It was left as it is. Leave out -o to write to stdout.")
        }
        let (options, context) = (workspace.options, workspace.context)
        let kept = [
            options.vaultPath, options.vaultPath + ".lock", options.passphraseFile,
            context.variable("ZG_ENV_PASSPHRASE_FILE"), options.keyFile, options.auditLogPath,
        ].compactMap { $0 }
        for file in kept {
            var other = stat()
            guard unsafe stat(file, &other) == 0 else { continue }
            guard other.st_dev != target.st_dev || other.st_ino != target.st_ino else {
                throw CommandError(
                    .usage, "\(path) holds or opens the vault.",
                    hint: "It was left as it is. Name another file.")
            }
        }
    }
}
