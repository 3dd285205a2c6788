internal import CommandLineKit
internal import VercelAPI

/// A log on a terminal: one line for each step that went well, and the lines of one that did not. The
/// step under way shows its latest line.
final class LogFolding: LogOutput {
    /// The lines of a step that are kept for the case that it fails.
    private static let kept = 1_000

    private struct Step {
        var title: String
        var begin: APITime?
        var end: APITime?
        var count = 0
        var errorCount = 0
        /// The newest lines; `next` is where the next one goes once it is full.
        var lines: [LogLine] = []
        var next = 0

        mutating func append(_ line: LogLine) {
            count += 1
            if line.kind == .error || line.kind == .warning { errorCount += 1 }
            begin = begin ?? line.date
            end = line.date ?? end
            guard lines.count == LogFolding.kept else {
                lines.append(line)
                return
            }
            lines[next] = line
            next = (next + 1) % LogFolding.kept
        }

        var inOrder: [LogLine] { Array(lines[next...] + lines[..<next]) }
    }

    private let stream: OutputStream
    private let style: Style
    private let progress: ProgressLine?
    private var step: Step?
    private var isDirty = false

    /// - Parameter progress: Where the step under way is shown; nil for nowhere.
    init(_ stream: OutputStream, _ style: Style, progress: ProgressLine?) {
        self.stream = stream
        self.style = style
        self.progress = progress
    }

    func take(_ event: DeploymentEvent) throws {
        for line in LogLine.lines(of: event) {
            switch line.kind {
            case .step, .command:
                try close(failed: false)
                step = Step(title: "\(line.mark) \(line.text)", begin: line.date, end: line.date)
            case .state:
                let isExit = event.type == "exit"
                let state = event.state
                let isBad = isExit || (state.map { $0.isFinal && $0 != .ready } ?? false)
                try close(failed: isBad, at: line.date)
                try show(line)
            case .output, .error, .warning:
                if step == nil { step = Step(title: "  before the first step") }
                step?.append(line)
            }
        }
        isDirty = true
    }

    func flush() throws {
        guard isDirty else { return }
        isDirty = false
        if let step, let progress {
            let latest = step.lines.isEmpty ? "" : (step.inOrder.last?.text ?? "")
            progress.update("\(step.title) · \(step.count) · \(latest)")
        }
        try stream.flush()
    }

    func finish(failed: Bool) throws {
        try close(failed: failed)
        progress?.finish()
        try stream.flush()
    }

    func lost(_ count: Int) throws {
        progress?.finish()
        try stream.write(
            "(\(count == 1 ? "1 event" : "\(count) events") of the log could not be read)\n")
    }

    private func close(failed: Bool, at end: APITime? = nil) throws {
        guard let step else { return }
        self.step = nil
        progress?.finish()
        var parts = [step.count == 1 ? "1 line" : "\(step.count) lines"]
        if step.errorCount > 0 { parts.append("\(step.errorCount) of them errors or warnings") }
        if let begin = step.begin, let end = end ?? step.end, end > begin {
            let span = end.milliseconds.subtractingReportingOverflow(begin.milliseconds)
            if !span.overflow {
                parts.append(DeploymentListing.span(milliseconds: span.partialValue))
            }
        }
        try stream.write(
            style.text(step.title, as: failed ? .bad : .heading) + "  "
                + style.text(parts.joined(separator: ", "), as: .dim) + "\n")
        guard failed else { return }
        let left = step.count - step.lines.count
        if left > 0 {
            try stream.write(
                style.text("    (\(left) lines before these: see them with --unfold)", as: .dim)
                    + "\n")
        }
        for line in step.inOrder {
            try stream.write("  \(line.mark) " + style.text(line.text, as: line.role) + "\n")
        }
    }

    private func show(_ line: LogLine) throws {
        try stream.write("\(line.mark) " + style.text(line.text, as: line.role) + "\n")
    }
}
