internal import CommandLineKit
internal import VercelAPI

/// Shows a log on a terminal: one line for each successful step, and all lines of a failed one. The
/// running step shows its latest line.
final class FoldedLogOutput: LogOutput {
    /// The number of lines kept per step, in case it fails.
    private static let kept = 1_000

    private struct Step {
        var title: String
        var begin: APITime?
        var end: APITime?
        var count = 0
        var errorCount = 0
        /// A ring buffer of the newest lines; `next` is the next position once it is full.
        var lines: [LogLine] = []
        var next = 0

        mutating func append(_ line: LogLine) {
            count += 1
            if line.kind == .error || line.kind == .warning { errorCount += 1 }
            begin = begin ?? line.date
            end = line.date ?? end
            guard lines.count == FoldedLogOutput.kept else {
                lines.append(line)
                return
            }
            lines[next] = line
            next = (next + 1) % FoldedLogOutput.kept
        }

        var inOrder: [LogLine] { Array(lines[next...] + lines[..<next]) }
    }

    private let stream: OutputStream
    private let style: Style
    private let progress: ProgressLine?
    private var step: Step?
    private var isDirty = false
    /// Whether a step has ended, so that lines outside of steps follow it.
    private var hasEnded = false
    /// The last line outside of steps.
    private var lastState: String?

    /// - Parameter progress: Shows the running step; nil to show nothing.
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
                lastState = nil
            case .state:
                let isExit = event.type == "exit"
                let state = event.state
                let isBad = isExit || (state.map { $0.isFinal && $0 != .ready } ?? false)
                try close(failed: isBad, at: line.date)
                try show(line)
            case .output, .error, .warning:
                if step == nil {
                    step = Step(
                        title: hasEnded ? "  after the last step" : "  before the first step")
                }
                step?.append(line)
            }
        }
        isDirty = true
    }

    func flush() throws {
        guard isDirty else { return }
        isDirty = false
        if let step, let progress {
            let latest = step.inOrder.last?.text ?? ""
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
            "(\(count == 1 ? "1 event" : "\(count) events") in the log could not be read)\n")
    }

    private func close(failed: Bool, at end: APITime? = nil) throws {
        guard let step else { return }
        self.step = nil
        hasEnded = true
        progress?.finish()
        var parts = [step.count == 1 ? "1 line" : "\(step.count) lines"]
        if step.errorCount > 0 { parts.append("errors and warnings: \(step.errorCount)") }
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
                style.text("    (\(left) earlier lines; show them with --unfold)", as: .dim)
                    + "\n")
        }
        for line in step.inOrder {
            try stream.write("  \(line.mark) " + style.text(line.text, as: line.role) + "\n")
        }
    }

    /// Shows a line outside of steps once: a failed command and the build both report its exit code.
    private func show(_ line: LogLine) throws {
        guard line.text != lastState else { return }
        lastState = line.text
        try stream.write("\(line.mark) " + style.text(line.text, as: line.role) + "\n")
    }
}
