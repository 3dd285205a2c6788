internal import CommandLineKit

/// The passphrase of a new slot: from `--new-passphrase-fd`, `--new-passphrase-file`, or typed twice.
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

    /// Where it comes from.
    ///
    /// - Throws: ``ExitCode/usage`` when there is nowhere to take it from, so that nobody is asked for
    ///   the old one in vain.
    func source(_ workspace: Workspace) throws -> PassphraseSource {
        if let source = named {
            var isFile = false
            if case .file = source { isFile = true }
            guard isFile || source != workspace.session.passphraseSource else {
                throw CommandError(
                    .usage, "Both passphrases cannot come from one descriptor.",
                    hint: "Give another number to --new-passphrase-fd.")
            }
            return source
        }
        let context = workspace.context
        if context.variable("DISPLAY") == nil && context.variable("WAYLAND_DISPLAY") == nil {
            do {
                _ = try TerminalDevice()
            } catch TerminalError.noTerminal {
                throw CommandError(
                    .usage, "There is nowhere to take the new passphrase from.",
                    hint: "Give --new-passphrase-file or --new-passphrase-fd.")
            }
        }
        return .terminal
    }
}
