internal import CommandLineKit
internal import JSON

/// Whom an operation tells and asks: a person at a terminal, a script, a screen.
protocol Interaction {
    /// Tells people something at once.
    ///
    /// What was done is done, whether or not anybody can be told: a stream that fails changes nothing.
    func note(_ message: String)

    /// Shows a plan and asks. Returns whether the answer is yes.
    ///
    /// - Parameter heading: A line above the plan, where there is room.
    /// - Throws: ``ExitCode/usage`` when nobody can be asked.
    func confirm(_ heading: String?, _ plan: [String], _ question: String) throws -> Bool

    /// Whether somebody can be asked.
    var canConfirm: Bool { get }

    /// A line for what changes while work goes on; nil where nobody would see it.
    var progressLine: ProgressLine? { get }

    /// Sets what is said where a signal ends the program from here on, for what a general sentence could
    /// not name, such as the id of what was just made. As with every error, `--quiet` does not change it.
    func setLastWords(_ message: String, hint: String)
}

/// A person who reads stderr and may have a terminal.
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
            try messages.write(DisplayText.safe(sentence: message) + "\n")
            try messages.flush()
        } catch {
            messages.discard()
        }
    }

    func confirm(_ heading: String?, _ plan: [String], _ question: String) throws -> Bool {
        if let heading { try messages.write(DisplayText.safe(sentence: heading) + "\n") }
        for line in plan { try messages.write("  \(DisplayText.safe(sentence: line))\n") }
        try messages.flush()
        do {
            return try TerminalDevice().confirm(question)
        } catch TerminalError.noTerminal {
            throw CommandError.nobodyToAsk
        }
    }

    var canConfirm: Bool { (try? TerminalDevice()) != nil }

    var progressLine: ProgressLine? {
        let descriptor = messages.descriptor
        return isQuiet || !TerminalDevice.isTerminal(descriptor)
            ? nil : ProgressLine(descriptor: descriptor)
    }

    func setLastWords(_ message: String, hint: String) {
        Interrupts.setLastWords(
            fitting:
                "zg-env: \(DisplayText.safe(sentence: message))\n\(DisplayText.safe(sentence: hint))\n"
        )
    }
}

/// A script, which gets one object at the end and is never asked.
struct ScriptInteraction: Interaction {
    func note(_ message: String) {}

    func confirm(_ heading: String?, _ plan: [String], _ question: String) throws -> Bool {
        throw CommandError.nobodyToAsk
    }

    var canConfirm: Bool { false }

    var progressLine: ProgressLine? { nil }

    func setLastWords(_ message: String, hint: String) {
        let error: JSONValue = [
            "error": ["code": "interrupted", "message": .string(message), "hint": .string(hint)]
        ]
        Interrupts.setLastWords(fitting: error.encodedText + "\n")
    }
}

extension CommandError {
    fileprivate static var nobodyToAsk: CommandError {
        CommandError(
            .usage, "This needs a confirmation, and there is nobody to ask.",
            hint: "Nothing was changed. Look at the plan with --dry-run, then answer with --yes.")
    }
}

extension Interrupts {
    /// A text that does not fit is not cut: the general words stay.
    fileprivate static func setLastWords(fitting text: String) {
        if text.utf8.count <= lastWordsLimit { setLastWords(text) }
    }
}
