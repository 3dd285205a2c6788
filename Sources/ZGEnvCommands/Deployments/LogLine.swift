internal import CommandLineKit
internal import VercelAPI

/// A line of a build log. Its text is untrusted: control characters are replaced, and the mark in front
/// keeps a line from imitating another kind.
struct LogLine {
    enum Kind: Equatable {
        /// Output of a program.
        case output, error, warning
        /// The start of a step.
        case step, command
        /// A message from Vercel about the deployment.
        case state
    }

    let kind: Kind
    let date: APITime?
    /// Safe to show.
    let text: String

    /// The mark in front of the text.
    var mark: String {
        switch kind {
        case .output: " "
        case .error: "!"
        case .warning: "~"
        case .step: "#"
        case .command: "$"
        case .state: "="
        }
    }

    var role: Style.Role {
        switch kind {
        case .output: .plain
        case .error: .bad
        case .warning: .warning
        case .step, .command: .heading
        case .state: .dim
        }
    }

    /// Returns the lines of an event; empty for one that only ends something.
    static func lines(of event: DeploymentEvent) -> [LogLine] {
        let kind = kind(of: event)
        if kind == .state {
            return state(of: event).map { [LogLine(kind: kind, date: event.date, text: $0)] } ?? []
        }
        var text = event.text ?? ""
        while let last = text.last, last.isNewline { text.removeLast() }
        if text.isEmpty, kind == .step { text = event.step ?? "" }
        if text.isEmpty, kind != .output { return [] }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
            LogLine(kind: kind, date: event.date, text: DisplayText.safe(String($0)))
        }
    }

    private static func kind(of event: DeploymentEvent) -> Kind {
        switch event.type {
        case "deployment-state", "alias-assigned", "exit": return .state
        case "delimiter": return .step
        case "command": return .command
        case "stderr", "fatal": return event.level == "warning" ? .warning : .error
        default:
            return event.level == "error" ? .error : event.level == "warning" ? .warning : .output
        }
    }

    private static func state(of event: DeploymentEvent) -> String? {
        switch event.type {
        case "alias-assigned":
            return event.aliasError.map {
                "The aliases could not be assigned: \(DisplayText.safe($0))"
            } ?? "The aliases were assigned."
        case "exit":
            guard let status = event.statusCode, status != 0 else { return nil }
            return "Exited with code \(status)."
        default:
            let words = event.text.map { $0.isEmpty ? "" : ": \($0)" } ?? ""
            return event.state.map { DisplayText.safe($0.rawValue + words) }
        }
    }
}
