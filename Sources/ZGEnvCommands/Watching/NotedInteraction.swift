internal import CommandLineKit

/// An interaction with a terminal that also collects its notes, for a screen that covers them.
final class NotedInteraction: Interaction {
    /// The notes, in order.
    private(set) var notes: [String] = []
    private let terminal: TerminalInteraction

    init(_ terminal: TerminalInteraction) { self.terminal = terminal }

    func note(_ message: String) {
        notes.append(message)
        terminal.note(message)
    }

    func confirm(_ heading: String?, _ plan: [String], _ question: String) throws -> Bool {
        try terminal.confirm(heading, plan, question)
    }

    func offer(_ question: String) throws -> Bool { try terminal.offer(question) }

    func choose(_ lines: [String], _ question: String, from words: [String]) throws -> String {
        try terminal.choose(lines, question, from: words)
    }

    func showValue(_ text: RawSpan) throws { try terminal.showValue(text) }

    var canConfirm: Bool { terminal.canConfirm }
    var progressLine: ProgressLine? { terminal.progressLine }

    func setInterruptionMessage(_ message: String, hint: String) {
        terminal.setInterruptionMessage(message, hint: hint)
    }
}
