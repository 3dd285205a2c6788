internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

/// An error of a feature that knows its exit code and message.
protocol CommandErrorConvertible: Error {
    var commandError: CommandError { get }
}

extension CommandError {
    /// Maps any error of the lower layers to an exit code and a message.
    package init(mapping error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as any CommandErrorConvertible: self = error.commandError
        case let error as UsageError: self.init(.usage, error.message, hint: error.hint)
        case let error as VaultError: self.init(mapping: error)
        case let error as KeyringError: self.init(mapping: error)
        case let error as SealingError:
            self.init(mapping: VaultError(error, damaged: .tag, "Decryption failed"))
        case is GitProgram.NoAnswer:
            self.init(
                .failed, "Git is not responding.",
                hint: "It may be waiting on a named pipe: check .gitignore, and "
                    + "include.path in git's configuration.")
        case let error as TerminalError: self.init(mapping: error)
        case OutputError.system(let number):
            self.init(.failed, "The output cannot be written: \(SystemError(number).reason).")
        case let error as ChildProcess.Failure:
            self.init(
                .failed,
                error.program.map { "\($0) cannot be started: \(error.error.reason)." }
                    ?? "A pipe could not be created.")
        case is OutputError: self.init(.failed, "The output cannot be written.")
        default: self.init(.failed, "Unexpected error: \(type(of: error)).")
        }
    }

    private init(mapping error: VaultError) {
        let reason = Self.sentence(error.reason)
        let remedy = error.remedy.map { "Run: \($0.command) \(word: $0.path)" }
        switch error.code {
        case .notFound: self.init(.notFound, reason, hint: "Create one with: zg-env init")
        case .exists:
            self.init(
                .conflict, reason, hint: "Use that vault, or choose another path with --vault.")
        case .insecure:
            self.init(
                .failed, reason,
                hint: remedy
                    ?? "Use a regular file that you own. To choose another vault, add --vault.")
        case .damaged:
            self.init(.damaged, reason, hint: "Restore a backup with: zg-env restore FILE")
        case .newerFormat: self.init(.failed, reason, hint: "Install that version or a later one.")
        case .preReleaseFormat:
            self.init(
                .failed, reason,
                hint:
                    "With the version that created the vault, run zg-env export for each project. "
                    + "Then create a new vault with zg-env init, and import the files with zg-env "
                    + "import.")
        case .wrongPassphrase: self.init(.locked, reason, hint: "Run the command again.")
        case .busy, .epochChanged, .slotsChanged:
            self.init(.conflict, reason, hint: "Run the command again.")
        case .lastSlot: self.init(.conflict, reason, hint: "Add another slot first.")
        case .tooLarge: self.init(.usage, reason)
        case .outOfMemory:
            self.init(.failed, reason, hint: "Close other programs, or raise the memory limit.")
        case .auditLog:
            self.init(
                .failed, reason,
                hint: "Values are revealed and changed only if that can be logged. "
                    + (remedy.map { "\($0). Or keep" } ?? "Keep")
                    + " the log elsewhere with --audit-log FILE or ZG_ENV_AUDIT_LOG.")
        case .notConfirmed: self.init(.failed, reason)
        case .inputOutput:
            self.init(
                .failed, reason,
                hint: "The vault was not changed. Fix the cause, or choose another path with "
                    + "--vault.")
        }
    }

    private init(mapping error: KeyringError) {
        let hint =
            switch error.code {
            case .libraryMissing: "Install libsecret (libsecret-1.so.0)."
            case .noBus, .noProvider:
                "Log in to a desktop with a keyring, or use a key file: zg-env slot add file PATH."
            case .locked: "Unlock the keyring and run the command again."
            case .malformed, .failed:
                "Check the keyring in its own application, such as Seahorse or KWalletManager."
            }
        self.init(.failed, Self.sentence(error.reason), hint: hint)
    }

    private init(mapping error: TerminalError) {
        switch error {
        case .noTerminal: self.init(.usage, "There is no terminal to prompt on.")
        case .system(let number): self.init(.failed, "Terminal I/O failed (error \(number)).")
        case .tooLong(let limit):
            self.init(
                .usage, "The typed text is longer than \(limit) bytes.",
                hint: "Pass a longer value with --from-file, or on stdin.")
        case .severalLines:
            self.init(
                .usage, "Several lines were entered where one was expected.",
                hint: "Pass a multi-line value on stdin or with --from-file.")
        case .endOfInput: self.init(.usage, "The input ended before anything was typed.")
        case .interrupted: self.init(.failed, "Canceled.")
        }
    }

    /// Adds a full stop unless there is one, as messages from Vercel may have.
    static func ending(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }

    /// Turns a library's reason into a sentence with a capital and a full stop.
    static func sentence(_ reason: String) -> String {
        guard let first = reason.first else { return reason }
        // A path or a name at the beginning keeps its letters.
        let isWord = reason.prefix { $0 != " " }.allSatisfy(\.isLetter)
        let head = isWord ? first.uppercased() : String(first)
        return head + reason.dropFirst() + (reason.hasSuffix(".") ? "" : ".")
    }
}
