internal import CommandLineKit
internal import VercelAPI

/// A log on the screen of `watch`.
final class WatchLog: LogOutput {
    /// Nobody looks at it any more.
    struct Left: Error {}

    private let take: ([WatchModel.LogEntry]) throws -> Void
    private var new: [WatchModel.LogEntry] = []

    /// - Parameter take: Gets what came together, and nothing some ten times a second while nothing
    ///   comes. What it throws ends the log.
    init(_ take: @escaping ([WatchModel.LogEntry]) throws -> Void) {
        self.take = take
    }

    func take(_ event: DeploymentEvent) throws {
        for line in LogLine.lines(of: event) {
            let time = line.date.map { TimeText.utc($0.milliseconds).suffix(9).dropLast() } ?? ""
            new.append(.init(text: "\(time) \(line.mark) \(line.text)", role: line.role))
        }
        // A log that comes in one piece does not fill the memory with what nobody will see.
        if new.count > 2 * WatchModel.logLimit { new.removeFirst(WatchModel.logLimit) }
    }

    func flush() throws {
        defer { new = [] }
        try take(new)
    }

    func finish(failed: Bool) throws { try flush() }

    func lost(_ count: Int) throws {
        new.append(.init(text: "(\(count) of the log could not be read)", role: .dim))
    }
}
