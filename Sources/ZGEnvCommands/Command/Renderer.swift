internal import CommandLineKit
internal import JSON
internal import Sealing

/// Shows results: data on stdout, everything else on stderr; with `--json` one JSON value.
struct Renderer {
    let context: Context
    let json: Bool

    /// The exit code if the reader of stdout is gone, as a shell reports SIGPIPE.
    private static let closedOutput: Int32 = 141

    /// Writes text to stdout.
    func show(_ text: String) throws {
        try context.output.write(text)
        try context.output.flush()
    }

    /// Shows a result and returns the exit code.
    func show(_ result: CommandResult) throws -> Int32 {
        if !json { context.showWarnings() }
        do {
            try write(result)
        } catch let error as OutputError {
            // A failure of the command is more important than that of its output.
            if let failure = result.failure, result.secret == nil {
                throw Self.unshown(failure, error)
            }
            if case .closed = error, result.secret == nil { throw error }
            throw Self.unshown(result, error)
        }
        guard let failure = result.failure else { return result.status }
        report(failure)
        return failure.code.rawValue
    }

    /// Returns the command's failure with that of its output.
    private static func unshown(_ failure: CommandError, _ error: OutputError) -> CommandError {
        if case .closed = error { return failure }
        var failure = failure
        failure.message =
            CommandError.ending(failure.message) + " " + CommandError(mapping: error).message
        return failure
    }

    /// Returns the failure for a successful command whose result could not be written.
    private static func unshown(_ result: CommandResult, _ error: OutputError) -> CommandError {
        let cause = CommandError(mapping: error).message
        guard result.secret == nil else {
            return CommandError(
                .failed, "\(cause) The recovery code was not shown, and cannot be shown again.",
                hint:
                    "To remove the slot for this code, run zg-env slot list, then zg-env slot "
                    + "remove ID")
        }
        return CommandError(
            .failed, "\(cause) The command itself had already finished.",
            hint: "Check the current state before you run the command again: zg-env status")
    }

    private func write(_ result: CommandResult) throws {
        if let writer = result.secretWriter {
            try writer()
        } else if json {
            try show(result.json(), result.secret)
        } else {
            try context.output.write(result.text())
            if let secret = result.secret {
                try secret.bytes.withBytes { try context.output.write($0) }
                try context.output.write("\n")
            }
        }
        try context.output.flush()
    }

    static let fields = "warnings?: [{ code, message: string }]"

    private func show(_ value: JSONValue, _ secret: NamedSecret?) throws {
        var value = value
        if case .object(let members) = value, !context.warnings.isEmpty {
            let warnings = context.warnings.map { warning -> JSONValue in
                ["code": .string(warning.code), "message": .string(warning.message)]
            }
            value = .object(members + [.init("warnings", .array(warnings))])
        }
        guard let secret, case .object(let members) = value else {
            let text = value.encoded
            try text.withBytes { try context.output.write($0) }
            try context.output.write("\n")
            return
        }
        var writer = JSONWriter(to: context.output)
        try writer.beginObject()
        for member in members { try writer.member(member.name, member.value) }
        try writer.name(secret.name)
        try secret.bytes.withBytes { try writer.string(utf8: $0) }
        try writer.endObject()
        _ = try writer.finish()
        try context.output.write("\n")
    }

    /// Shows an error and returns the exit code.
    ///
    /// - Parameter isRun: Whether the command is `run`, whose own failures are always 125.
    func fail(_ error: any Error, isRun: Bool) -> Int32 {
        context.output.discard()
        if case OutputError.closed = error { return Self.closedOutput }
        if let failure = error as? RunFailure {
            report(failure.error)
            return failure.status
        }
        let failure = CommandError(mapping: error)
        if !json { context.showWarnings() }
        report(failure)
        return isRun ? 125 : failure.code.rawValue
    }

    /// Writes a failure to stderr. If that fails, the exit code still reports it.
    private func report(_ failure: CommandError) {
        do {
            try writeReport(failure)
        } catch {
            context.messages.discard()
        }
    }

    private func writeReport(_ failure: CommandError) throws {
        if json {
            // Only one object, even if a signal ends the program now.
            Interrupts.setInterruptionMessage("")
            var members: [JSONValue.Member] = [
                .init("code", .string(failure.code.name ?? "failed")),
                .init("message", .string(failure.message)),
            ]
            if let hint = failure.hint { members.append(.init("hint", .string(hint))) }
            var writer = JSONWriter(to: context.messages)
            try writer.value(["error": .object(members)])
            _ = try writer.finish()
            try context.messages.write("\n")
        } else {
            let look = Style(
                usesColor: TerminalDevice.isTerminal(context.messages.descriptor)
                    && context.variable("NO_COLOR") == nil)
            try context.messages.write(sentence: failure.message, label: "zg-env:") {
                look.text($0, as: .bad)
            }
            if let hint = failure.hint {
                try context.messages.write(sentence: hint, label: "hint:")
            }
        }
        try context.messages.flush()
    }
}
