internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import Vault

/// Reads a new value from a file, a generator, a hidden prompt or stdin, never from an argument.
struct ValueInput {
    static let generator = OptionSpec(
        "generate", value: "SPEC",
        "Generate a value: hex:32, base64:32, base64url:32, alnum:40, words:6 or uuid")
    static let options = [
        OptionSpec("from-file", value: "F", "Read the value from file F", completion: .file),
        generator,
        OptionSpec(flag: "prompt", "Prompt at the terminal even if stdin is not a terminal"),
        OptionSpec(flag: "raw", "Keep a trailing newline"),
        OptionSpec(flag: "allow-empty", "Allow an empty value"),
        OptionSpec(flag: "strict", "Reject a suspicious value instead of warning"),
    ]

    /// The longest value with a line end.
    private static let readLimit = VaultFormat.valueLimit + 2

    private var generate: String?
    private var path: String?
    private var prompts = false
    private var keepsNewline = false
    /// Whether an empty value is accepted. The caller may set it, and then has to check.
    var allowsEmpty = false
    /// Whether to reject a suspicious value instead of warning.
    private(set) var isStrict = false

    /// Reads from a prompt or stdin.
    init() {}

    init(_ command: ParsedCommand) {
        generate = command.value("generate")
        path = command.value("from-file")
        prompts = command.has("prompt")
        keepsNewline = command.has("raw")
        allowsEmpty = command.has("allow-empty")
        isStrict = command.has("strict")
    }

    /// Whether a person types the value.
    var isTyped: Bool {
        generate == nil && path == nil && (prompts || TerminalDevice.isTerminal(0))
    }

    /// Whether each of several keys can get its own value.
    var canRepeat: Bool { generate != nil || isTyped }

    /// Whether an option says where the value comes from.
    var isNamed: Bool { generate != nil || path != nil || prompts }

    /// Whether an option is about a value.
    var hasOptions: Bool { isNamed || keepsNewline || allowsEmpty }

    /// Reads and checks the value for `key`.
    ///
    /// - Parameter scope: Where the value applies; nil if that is not known.
    func value(
        for key: String, in scope: Scope? = nil, _ workspace: Workspace
    ) throws -> SecretSlice {
        let arena = SecretArena()
        let value: SecretSlice
        if let spec = generate {
            value = try ValueGenerator(spec).value(in: arena)
        } else if let path {
            let text = try SecretInput.read(
                path: path, limit: Self.readLimit, what: "The file")
            value = try finished(text, workspace, arena)
        } else if isTyped {
            value = try typed(key, workspace, arena)
        } else {
            try workspace.context.secretDescriptors.checkInput(
                for: "value",
                hint: "Pass the passphrase on another descriptor, or the value with --from-file.")
            let text = try SecretInput.read(
                descriptor: 0, limit: Self.readLimit, what: "The value on stdin")
            value = try finished(text, workspace, arena)
        }
        try check(value, key, in: scope, workspace)
        return value
    }

    /// Prompts at the terminal, or with pinentry if it has no terminal.
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

    /// Drops one trailing newline, LF or CR LF, and reports it.
    private func finished(
        _ text: consuming SecretBuffer, _ workspace: Workspace, _ arena: SecretArena
    ) throws -> SecretSlice {
        var text = text
        let count = keepsNewline ? 0 : text.withBytes { $0.finalLineEndByteCount }
        if count > 0 {
            text.removeLast(count)
            let message =
                "One trailing newline\(count > 1 ? " (CR LF)" : "") was dropped; --raw keeps it."
            workspace.note(message)
            if workspace.options.json { workspace.context.warn("newline-dropped", message) }
        }
        return try text.withBytes { try arena.copy($0) }
    }

    /// Refuses bytes that no variable can have.
    static func checkText(_ value: SecretSlice, _ key: String) throws {
        guard value.count <= VaultFormat.valueLimit else {
            throw CommandError(.usage, "The value of \(key) is longer than 1 MiB.")
        }
        guard value.withBytes({ UTF8Check.isValid($0) }) else {
            throw CommandError(.usage, "The value of \(key) is not valid UTF-8.")
        }
        guard
            value.withBytes({ bytes in !(0..<bytes.byteCount).contains { bytes.byte(at: $0) == 0 } }
            )
        else {
            throw CommandError(.usage, "The value of \(key) contains a NUL byte.")
        }
    }

    func check(
        _ value: SecretSlice, _ key: String, in scope: Scope? = nil, _ workspace: Workspace
    ) throws {
        try Self.checkText(value, key)
        if value.count == 0 && !allowsEmpty {
            throw CommandError(
                .usage, "The value of \(key) is empty.",
                hint: "Use --allow-empty to set an empty value.")
        }
        let warnings = value.withBytes { ValueWarning.warnings(about: $0, of: key, in: scope) }
            .filter { $0.code != .emptyValue }
        if let first = warnings.first, isStrict {
            throw CommandError(
                .usage, first.message, hint: "Fix the value, or leave out --strict.")
        }
        for warning in warnings {
            workspace.context.warn(warning.code.rawValue, warning.message)
        }
    }
}
