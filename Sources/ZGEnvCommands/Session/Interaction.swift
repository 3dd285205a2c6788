internal import CommandLineKit
internal import JSON

/// Shows messages and asks questions: at a terminal, for a script, or in a screen.
protocol Interaction {
    /// Shows a message at once. A stream that fails is ignored: the work is done either way.
    func note(_ message: String)

    /// Shows a plan and asks; returns whether the answer is yes.
    ///
    /// - Parameter heading: A line above the plan, where there is room.
    /// - Throws: ``ExitCode/usage`` when nobody can be asked.
    func confirm(_ heading: String?, _ plan: [String], _ question: String) throws -> Bool

    /// Asks whether to do one more thing that can easily be undone: Enter alone agrees.
    ///
    /// - Returns: False when nobody can be asked.
    func offer(_ question: String) throws -> Bool

    /// Shows lines and asks for one of several words; Enter alone answers the first.
    ///
    /// - Throws: ``ExitCode/usage`` when nobody can be asked.
    func choose(_ lines: [String], _ question: String, from words: [String]) throws -> String

    /// Shows a value, already free of control characters, only to the person who answers.
    func showValue(_ text: RawSpan) throws

    /// Whether a question can be asked.
    var canConfirm: Bool { get }

    /// A line for progress; nil where nobody would see it.
    var progressLine: ProgressLine? { get }

    /// Sets the message for a signal that ends the program from here on, such as one with the id of
    /// something just created. Like any error it is shown with `--quiet`, too.
    func setInterruptionMessage(_ message: String, hint: String)
}

/// An interaction on stderr, and at a terminal if there is one.
struct TerminalInteraction: Interaction {
    private let messages: OutputStream
    private let isQuiet: Bool

    init(_ context: Context, isQuiet: Bool) {
        messages = context.messages
        self.isQuiet = isQuiet
    }

    func note(_ message: String) {
        guard !isQuiet else { return }
        do throws(OutputError) {
            try messages.write(sentence: message)
            try messages.flush()
        } catch {
            messages.discard()
        }
    }

    func confirm(_ heading: String?, _ plan: [String], _ question: String) throws -> Bool {
        if let heading { try messages.write(sentence: heading) }
        for line in plan { try messages.write(sentence: line, indent: 2) }
        try messages.flush()
        return try terminal().confirm(question)
    }

    func offer(_ question: String) throws -> Bool {
        do {
            return try TerminalDevice().confirm(question, byDefault: true)
        } catch TerminalError.noTerminal {
            return false
        }
    }

    func choose(_ lines: [String], _ question: String, from words: [String]) throws -> String {
        for (place, line) in lines.enumerated() {
            try messages.write(sentence: line, indent: place == 0 ? 0 : 2)
        }
        try messages.flush()
        return try terminal().choose(question, from: words)
    }

    private func terminal() throws -> TerminalDevice {
        do {
            return try TerminalDevice()
        } catch TerminalError.noTerminal {
            throw CommandError.cannotConfirm
        }
    }

    func showValue(_ text: RawSpan) throws { try TerminalDevice().write(text) }

    var canConfirm: Bool { (try? TerminalDevice()) != nil }

    var progressLine: ProgressLine? {
        let descriptor = messages.descriptor
        return isQuiet || !TerminalDevice.isTerminal(descriptor)
            ? nil : ProgressLine(descriptor: descriptor)
    }

    func setInterruptionMessage(_ message: String, hint: String) {
        Interrupts.setInterruptionMessage(
            fitting:
                "zg-env: \(DisplayText.safe(sentence: message))\nhint: \(DisplayText.safe(sentence: hint))\n"
        )
    }
}

/// An interaction with a script, which gets one object at the end and is never asked.
struct ScriptInteraction: Interaction {
    func note(_ message: String) {}

    func confirm(_ heading: String?, _ plan: [String], _ question: String) throws -> Bool {
        throw CommandError.cannotConfirm
    }

    func offer(_ question: String) -> Bool { false }

    func choose(_ lines: [String], _ question: String, from words: [String]) throws -> String {
        throw CommandError.cannotConfirm
    }

    func showValue(_ text: RawSpan) throws { throw CommandError.cannotConfirm }

    var canConfirm: Bool { false }

    var progressLine: ProgressLine? { nil }

    func setInterruptionMessage(_ message: String, hint: String) {
        let error: JSONValue = [
            "error": ["code": "interrupted", "message": .string(message), "hint": .string(hint)]
        ]
        Interrupts.setInterruptionMessage(fitting: error.encodedText + "\n")
    }
}

extension CommandError {
    fileprivate static var cannotConfirm: CommandError {
        CommandError(
            .usage, "This command needs confirmation, but there is no terminal to prompt on.",
            hint: "Check the plan with --dry-run, then confirm with --yes.")
    }
}

extension Interrupts {
    /// Keeps the general message if `text` is too long.
    fileprivate static func setInterruptionMessage(fitting text: String) {
        if text.utf8.count <= interruptionMessageLimit { setInterruptionMessage(text) }
    }
}
