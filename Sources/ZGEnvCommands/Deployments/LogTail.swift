internal import CommandLineKit
internal import VercelAPI

/// Keeps the last lines of a log, to show why a build failed.
final class LogTail: LogOutput {
    private let count: Int
    private(set) var lines: [LogLine] = []

    /// - Parameter count: How many lines to keep.
    init(_ count: Int) { self.count = count }

    func take(_ event: DeploymentEvent) {
        lines += LogLine.lines(of: event).filter { $0.kind != .state && !$0.text.isEmpty }
        if lines.count > count { lines.removeFirst(lines.count - count) }
    }

    func flush() {}
    func finish(failed: Bool) {}
    func lost(_ count: Int) {}
}
