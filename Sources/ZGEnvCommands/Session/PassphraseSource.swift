internal import CommandLineKit
internal import Glibc
internal import Sealing

/// Where a passphrase comes from: the first source that is set, and only that one.
enum PassphraseSource: Equatable {
    case descriptor(Int32)
    case file(String)
    case command(String)
    case terminal
    case pinentry

    /// The most bytes of a passphrase.
    static let limit = 1_024
    /// With a line end.
    private static let readLimit = limit + 2

    /// The source that the options or the environment select; otherwise the terminal or pinentry.
    init(_ options: GlobalOptions, _ context: Context) {
        if let descriptor = options.passphraseDescriptor {
            self = .descriptor(descriptor)
        } else if let path = options.passphraseFile {
            self = .at(path)
        } else if let path = context.variable("ZG_ENV_PASSPHRASE_FILE") {
            self = .at(path)
        } else if let command = context.variable("ZG_ENV_PASSPHRASE_COMMAND") {
            self = .command(command)
        } else if let directory = context.variable("CREDENTIALS_DIRECTORY"),
            FileKind.isFile("\(directory)/zg-env-passphrase")
        {
            self = .file("\(directory)/zg-env-passphrase")
        } else {
            self = .terminal
        }
    }

    /// Returns the source for `path`. Stdin under any name is descriptor 0, which has moved.
    static func at(_ path: String) -> PassphraseSource {
        SecretDescriptors.number(of: path) == 0 ? .descriptor(0) : .file(path)
    }

    /// Where the passphrase comes from, at the start of a sentence; nil if a person types it.
    var origin: String? {
        switch self {
        case .descriptor(let number): "The passphrase on descriptor \(number)"
        case .file(let path): "The passphrase file \(path)"
        case .command: "The output of the passphrase command"
        case .terminal, .pinentry: nil
        }
    }

    /// Whether the passphrase comes without asking.
    var isUnattended: Bool { self != .terminal && self != .pinentry }

    /// How often zg-env asks a person for a passphrase before the command fails.
    static let maximumTries = 3

    /// Reads or asks for the passphrase.
    ///
    /// - Parameter silence: Set if it was typed at a terminal: keeps the echo off until it ends.
    /// - Throws: ``ExitCode/locked`` if nobody can be asked or others can open its file,
    ///   ``ExitCode/usage`` if it is empty or too long.
    func passphrase(
        prompt: String, _ context: Context, keepingEchoOff silence: inout EchoSuspension?
    ) throws -> SecretBytes {
        switch self {
        case .descriptor(let descriptor):
            return try Self.checked(
                try SecretInput.read(
                    descriptor: context.secretDescriptors.current(descriptor),
                    limit: Self.readLimit, what: "The passphrase on descriptor \(descriptor)"))
        case .file(let path):
            return try Self.checked(
                try SecretInput.read(
                    path: path, limit: Self.readLimit, what: "The passphrase file",
                    check: SecretFileRule.ofPassphraseFile(path, context).check))
        case .command(let command):
            return try Self.checked(
                try ShellCommand.secretOutput(
                    of: command, limit: Self.readLimit, environment: context.rawEnvironment,
                    what: "The passphrase command"))
        case .terminal, .pinentry:
            return try Self.asked(prompt, context, &silence)
        }
    }

    func passphrase(prompt: String, _ context: Context) throws -> SecretBytes {
        var silence: EchoSuspension?
        defer { silence?.end() }
        return try passphrase(prompt: prompt, context, keepingEchoOff: &silence)
    }

    /// Drops one trailing newline, LF or CR LF, and refuses an empty passphrase.
    private static func checked(_ text: consuming SecretBuffer) throws -> SecretBytes {
        var text = text
        text.removeLast(text.withBytes { $0.finalLineEndByteCount })
        guard text.count > 0 else {
            throw CommandError(
                .usage, "The passphrase is empty.", hint: "Use a passphrase of 1 to 1,024 bytes.")
        }
        guard text.count <= limit else {
            throw CommandError(.usage, "The passphrase is longer than 1,024 bytes.")
        }
        return try text.withBytes { try SecretBytes(copying: $0) }
    }

    /// Returns a hint if a passphrase begins or ends with bytes that an editor, a shell or a copy may
    /// have added; nil otherwise. Contains nothing of the passphrase.
    func hint(about secret: borrowing SecretBytes) -> String? {
        guard let what = origin else { return nil }
        let ends = secret.withBytes { Self.ends(of: $0) }
        guard !ends.isEmpty else { return nil }
        return "\(what) \(ends.joined(separator: " and ")), which is part of the passphrase."
    }

    private static func ends(of bytes: RawSpan) -> [String] {
        let count = bytes.byteCount
        guard count > 0 else { return [] }
        var ends: [String] = []
        switch (bytes.byte(at: 0), count > 1 ? bytes.byte(at: 1) : 0) {
        case (0xEF, 0xBB): ends.append("begins with a byte order mark")
        case (0xFF, 0xFE), (0xFE, 0xFF): ends.append("begins with the byte order mark of UTF-16")
        case (0x20, _), (0x09, _): ends.append("begins with a space or tab")
        default: break
        }
        switch bytes.byte(at: count - 1) {
        case 0x0A: ends.append("ends in more than one line end")
        case 0x0D: ends.append("ends in a carriage return")
        case 0x20, 0x09: ends.append("ends in a space or tab")
        default: break
        }
        return ends
    }

    private static func asked(
        _ prompt: String, _ context: Context, _ silence: inout EchoSuspension?
    ) throws -> SecretBytes {
        do {
            let terminal = try TerminalDevice(
                erasesPrompts: context.variable("TERM") != "dumb")
            var typed = try SecretBytes(count: limit)
            let count = try typed.withMutableBytes {
                try terminal.readHidden(
                    prompt: prompt, into: &$0, keepingEchoOff: &silence)
            }
            guard count > 0 else {
                throw CommandError(.usage, "The passphrase is empty.")
            }
            return try typed.withBytes { try SecretBytes(copying: $0.extracting(first: count)) }
        } catch TerminalError.noTerminal {
            if let pinentry = Pinentry(context) { return try pinentry.ask(prompt) }
            throw CommandError(
                .locked,
                "The passphrase is needed, but none was given, and there is no terminal to prompt on.",
                hint:
                    "Run zg-env unlock in a terminal first. Or use --passphrase-file or --passphrase-fd, or set ZG_ENV_PASSPHRASE_FILE."
            )
        }
    }

    /// Reads the passphrase for a new slot: typed twice at a terminal, once from anywhere else. Asks
    /// again if the two differ. Warns about what a text editor may have added: no one would type that.
    ///
    /// - Parameter silence: Set if it was typed: keeps the echo off until it ends.
    func newPassphrase(
        _ context: Context, keepingEchoOff silence: inout EchoSuspension?
    ) throws -> SecretBytes {
        var prompt = "New passphrase: "
        for _ in 0..<Self.maximumTries {
            let first = try passphrase(prompt: prompt, context)
            guard !isUnattended else {
                if let hint = hint(about: first) { context.warn("passphrase-ends", hint) }
                return first
            }
            let second = try passphrase(
                prompt: "Confirm passphrase: ", context, keepingEchoOff: &silence)
            if first.isEqualInConstantTime(to: second) { return first }
            silence?.end()
            prompt = "The passphrases do not match. New passphrase: "
        }
        throw CommandError(
            .usage, "The passphrases do not match.", hint: "Run the command again.")
    }
}
