internal import CommandLineKit

/// A full-screen view: it shows plans and questions itself, and collects notes for one line.
final class ScreenInteraction: Interaction {
    /// The notes, in order.
    private(set) var notes: [String] = []
    private let ask: (_ plan: [String], _ question: String) throws -> Bool

    init(ask: @escaping (_ plan: [String], _ question: String) throws -> Bool) {
        self.ask = ask
    }

    func note(_ message: String) { notes.append(message) }

    func confirm(_ heading: String?, _ plan: [String], _ question: String) throws -> Bool {
        try ask(plan, question)
    }

    var canConfirm: Bool { true }
    var progressLine: ProgressLine? { nil }

    /// The screen's own command has words for a signal.
    func setLastWords(_ message: String, hint: String) {}
}
