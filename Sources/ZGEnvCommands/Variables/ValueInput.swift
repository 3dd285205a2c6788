internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import Vault

/// A new value: from a file, a generator, a hidden prompt or stdin, never from the arguments.
struct ValueInput {
    static let options = [
        OptionSpec("from-file", value: "F", "Read the value from this file", completion: .file),
        OptionSpec(
            "generate", value: "SPEC",
            "Make a value: hex:32, base64:32, base64url:32, alnum:40, words:6 or uuid"),
        OptionSpec(flag: "prompt", "Ask at the terminal even when stdin is not one"),
        OptionSpec(flag: "raw", "Keep a trailing newline"),
        OptionSpec(flag: "allow-empty", "Take an empty value"),
        OptionSpec(flag: "strict", "Refuse a value that looks wrong instead of warning"),
    ]

    private var generate: String?
    private var path: String?
    private var prompts = false
    private var keepsNewline = false
    private var allowsEmpty = false
    private var isStrict = false

    /// At a prompt or from stdin.
    init() {}

    init(_ command: ParsedCommand) {
        generate = command.value("generate")
        path = command.value("from-file")
        prompts = command.has("prompt")
        keepsNewline = command.has("raw")
        allowsEmpty = command.has("allow-empty")
        isStrict = command.has("strict")
    }

    /// Whether the options name where the value comes from.
    var isNamed: Bool { generate != nil || path != nil || prompts }

    /// Takes the value for `key`, and checks it.
    func value(for key: String, _ workspace: Workspace) throws -> SecretSlice {
        let arena = SecretArena()
        let value: SecretSlice
        if let spec = generate {
            value = try ValueGenerator(spec).value(in: arena)
        } else if let path {
            let text = try SecretInput.read(
                path: path, limit: VaultFormat.valueLimit + 1, what: "The file")
            value = try finished(text, workspace, arena)
        } else if prompts || TerminalDevice.isTerminal(0) {
            value = try typed(key, workspace, arena)
        } else {
            try workspace.context.secretDescriptors.checkInput(
                for: "value",
                hint: "Give the passphrase on another descriptor, or the value with --from-file.")
            let text = try SecretInput.read(
                descriptor: 0, limit: VaultFormat.valueLimit + 1, what: "The value on stdin")
            value = try finished(text, workspace, arena)
        }
        try check(value, key, workspace)
        return value
    }

    /// Asks at the terminal or, where there is none, in a window.
    private func typed(
        _ key: String, _ workspace: Workspace, _ arena: SecretArena
    ) throws -> SecretSlice {
        let prompt = "Value of \(key): "
        do {
            let terminal = try TerminalDevice(
                erasesPrompts: workspace.context.variable("TERM") != "dumb")
            let room = try arena.allocate(count: 64 << 10)
            let count = try room.withMutableBytes {
                try terminal.readHidden(prompt: prompt, into: &$0)
            }
            return room.part(0..<count)
        } catch TerminalError.noTerminal(let number) {
            guard let pinentry = Pinentry(workspace.context) else {
                throw TerminalError.noTerminal(errno: number)
            }
            return try pinentry.ask(prompt, for: "value").withBytes { try arena.copy($0) }
        }
    }

    /// Drops one trailing newline of input, and says so.
    private func finished(
        _ text: consuming SecretBuffer, _ workspace: Workspace, _ arena: SecretArena
    ) throws -> SecretSlice {
        var text = text
        let endsInNewline = text.withBytes {
            $0.byteCount > 0 && $0.byte(at: $0.byteCount - 1) == 0x0A
        }
        if endsInNewline && !keepsNewline {
            text.removeLast(1)
            let message = "One trailing newline was dropped; --raw keeps it."
            workspace.note(message)
            if workspace.options.json { workspace.context.warn("newline-dropped", message) }
        }
        return try text.withBytes { try arena.copy($0) }
    }

    func check(
        _ value: SecretSlice, _ key: String, _ workspace: Workspace
    ) throws {
        guard value.count <= VaultFormat.valueLimit else {
            throw CommandError(
                .usage, "The value of \(key) is longer than 1 MiB.", hint: "Nothing was changed.")
        }
        guard value.withBytes({ UTF8Check.isValid($0) }) else {
            throw CommandError(
                .usage, "The value of \(key) is not UTF-8.", hint: "Nothing was changed.")
        }
        guard
            value.withBytes({ bytes in !(0..<bytes.byteCount).contains { bytes.byte(at: $0) == 0 } }
            )
        else {
            throw CommandError(
                .usage, "The value of \(key) holds a NUL byte.", hint: "Nothing was changed.")
        }
        if value.count == 0 && !allowsEmpty {
            throw CommandError(
                .usage, "The value of \(key) is empty.",
                hint: "Nothing was changed. Say --allow-empty if you mean it.")
        }
        let warnings = value.withBytes { ValueWarning.warnings(about: $0, of: key) }
            .filter { $0.code != .emptyValue }
        if let first = warnings.first, isStrict {
            throw CommandError(
                .usage, first.message, hint: "Nothing was changed, because of --strict.")
        }
        for warning in warnings {
            workspace.context.warn(warning.code.rawValue, warning.message)
        }
    }
}
