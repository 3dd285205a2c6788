internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import Vault

/// A new value: from a file, a generator, a hidden prompt or stdin, never from the arguments.
enum ValueInput {
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

    /// Takes the value for `key`, and checks it.
    static func value(for key: String, _ invocation: Invocation) throws -> SecretSlice {
        let command = invocation.command
        let arena = SecretArena()
        let value: SecretSlice
        if let spec = command.value("generate") {
            value = try ValueGenerator(spec).value(in: arena)
        } else if let path = command.value("from-file") {
            let text = try SecretInput.read(
                path: path, limit: VaultFormat.valueLimit + 1, what: "The file")
            value = try finished(text, invocation, arena)
        } else if command.has("prompt") || TerminalDevice.isTerminal(0) {
            value = try typed(key, invocation, arena)
        } else {
            try invocation.context.secretDescriptors.checkInput(
                for: "value",
                hint: "Give the passphrase on another descriptor, or the value with --from-file.")
            let text = try SecretInput.read(
                descriptor: 0, limit: VaultFormat.valueLimit + 1, what: "The value on stdin")
            value = try finished(text, invocation, arena)
        }
        try check(value, key, invocation)
        return value
    }

    /// Asks at the terminal or, where there is none, in a window.
    private static func typed(
        _ key: String, _ invocation: Invocation, _ arena: SecretArena
    ) throws -> SecretSlice {
        let prompt = "Value of \(key): "
        do {
            let terminal = try TerminalDevice(
                erasesPrompts: invocation.context.variable("TERM") != "dumb")
            let room = try arena.allocate(count: 64 << 10)
            let count = try room.withMutableBytes {
                try terminal.readHidden(prompt: prompt, into: &$0)
            }
            return room.part(0..<count)
        } catch TerminalError.noTerminal(let number) {
            guard let pinentry = Pinentry(invocation.context) else {
                throw TerminalError.noTerminal(errno: number)
            }
            return try pinentry.ask(prompt, for: "value").withBytes { try arena.copy($0) }
        }
    }

    /// Drops one trailing newline of input, and says so.
    private static func finished(
        _ text: consuming SecretBuffer, _ invocation: Invocation, _ arena: SecretArena
    ) throws -> SecretSlice {
        var text = text
        let endsInNewline = text.withBytes {
            $0.byteCount > 0 && $0.byte(at: $0.byteCount - 1) == 0x0A
        }
        if endsInNewline && !invocation.command.has("raw") {
            text.removeLast(1)
            let message = "One trailing newline was dropped; --raw keeps it."
            try invocation.note(message)
            if invocation.options.json { invocation.context.warn("newline-dropped", message) }
        }
        return try text.withBytes { try arena.copy($0) }
    }

    static func check(
        _ value: SecretSlice, _ key: String, _ invocation: Invocation
    ) throws {
        let key = DisplayText.safe(key)
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
        if value.count == 0 && !invocation.command.has("allow-empty") {
            throw CommandError(
                .usage, "The value of \(key) is empty.",
                hint: "Nothing was changed. Say --allow-empty if you mean it.")
        }
        let warnings = value.withBytes { ValueWarning.warnings(about: $0, of: key) }
            .filter { $0.code != .emptyValue }
        if let first = warnings.first, invocation.command.has("strict") {
            throw CommandError(
                .usage, first.message, hint: "Nothing was changed, because of --strict.")
        }
        for warning in warnings {
            invocation.context.warn(warning.code.rawValue, warning.message)
        }
    }
}
