internal import CommandLineKit
internal import VercelAPI

/// Passes a deployment's log to the `watch` screen.
final class WatchLog: LogOutput {
    /// Thrown when the log is no longer shown.
    struct Left: Error {}

    private let take: ([WatchModel.LogEntry]) throws -> Void
    private var new: [WatchModel.LogEntry] = []

    /// - Parameter take: Receives new entries, and an empty array about ten times a second while
    ///   there are none. An error that it throws ends the log.
    init(_ take: @escaping ([WatchModel.LogEntry]) throws -> Void) {
        self.take = take
    }

    func take(_ event: DeploymentEvent) throws {
        for line in LogLine.lines(of: event) {
            let time = line.date.map { TimeText.utc($0.milliseconds).suffix(9).dropLast() } ?? ""
            new.append(.init(text: "\(time) \(line.mark) \(line.text)", role: line.role))
        }
        // Bounds the memory for a log that arrives all at once.
        if new.count > 2 * WatchModel.logLimit { new.removeFirst(WatchModel.logLimit) }
    }

    func flush() throws {
        defer { new = [] }
        try take(new)
    }

    func finish(failed: Bool) throws { try flush() }

    func lost(_ count: Int) throws {
        new.append(
            .init(
                text: "(\(count == 1 ? "1 log entry" : "\(count) log entries") could not be read)",
                role: .dim))
    }
}
