internal import CommandLineKit

/// The interaction of a full-screen view: shows plans and questions there, and collects notes.
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

    func offer(_ question: String) -> Bool { false }

    /// Answers the first word, which changes nothing: the screen has room for one question.
    func choose(_ lines: [String], _ question: String, from words: [String]) -> String { words[0] }

    func showValue(_ text: RawSpan) {}

    var canConfirm: Bool { true }
    var progressLine: ProgressLine? { nil }

    /// Ignored: the screen's own command handles signals.
    func setInterruptionMessage(_ message: String, hint: String) {}
}
