internal import CommandLineKit

/// The source of a new passphrase: `--new-passphrase-fd`, `--new-passphrase-file` or the terminal.
struct NewPassphrase {
    static let options = [
        OptionSpec(
            "new-passphrase-fd", value: "N", "Read the new passphrase from this descriptor",
            form: .integer(0...1_000_000)),
        OptionSpec(
            "new-passphrase-file", value: "FILE", "Read the new passphrase from this file",
            completion: .file),
    ]
    static let exclusive = ["new-passphrase-fd", "new-passphrase-file"]

    private let named: PassphraseSource?

    init(_ command: ParsedCommand) {
        named =
            command.integer("new-passphrase-fd").map { .descriptor(Int32($0)) }
            ?? command.value("new-passphrase-file").map { PassphraseSource.at($0) }
    }

    /// Returns the source; called before asking for the old passphrase.
    ///
    /// - Throws: ``ExitCode/usage`` when there is no source.
    func source(_ workspace: Workspace) throws -> PassphraseSource {
        if let source = named {
            let isFile = if case .file = source { true } else { false }
            guard isFile || source != workspace.session.passphraseSource else {
                throw CommandError(
                    .usage, "The old and the new passphrase cannot come from the same descriptor.",
                    hint: "Use another number for --new-passphrase-fd.")
            }
            return source
        }
        if !workspace.context.hasDisplay {
            do {
                _ = try TerminalDevice()
            } catch TerminalError.noTerminal {
                throw CommandError(
                    .usage, "Cannot ask for the new passphrase: there is no terminal.",
                    hint: "Use --new-passphrase-file or --new-passphrase-fd.")
            }
        }
        return .terminal
    }
}
