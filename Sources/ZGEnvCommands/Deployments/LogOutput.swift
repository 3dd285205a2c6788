internal import CommandLineKit
internal import JSON
internal import Sealing
internal import VercelAPI

/// Where the events of a log go, in one of its forms.
protocol LogOutput: AnyObject {
    /// Takes the next event.
    func take(_ event: DeploymentEvent) throws
    /// Shows what was taken: nothing more may come for a while.
    func flush() throws
    /// Ends the log.
    ///
    /// - Parameter failed: Whether the deployment ended without being built.
    func finish(failed: Bool) throws
    /// Events were too long or broken, and are not there.
    func lost(_ count: Int) throws
}

/// A line of text for each line of the log: time, mark, text.
final class LogText: LogOutput {
    private let stream: OutputStream
    private let style: Style

    init(_ stream: OutputStream, _ style: Style) {
        self.stream = stream
        self.style = style
    }

    func take(_ event: DeploymentEvent) throws {
        for line in LogLine.lines(of: event) {
            let time =
                line.date.map { TimeText.utc($0.milliseconds, withMilliseconds: true) }
                ?? "                        "
            try stream.write("\(style.text(time, as: .dim)) \(line.mark) ")
            try stream.write(style.text(line.text, as: line.role))
            try stream.write("\n")
        }
    }

    func flush() throws { try stream.flush() }
    func finish(failed: Bool) throws { try stream.flush() }

    func lost(_ count: Int) throws {
        try stream.write(
            "(\(count == 1 ? "1 event" : "\(count) events") of the log could not be read)\n")
    }
}

/// A JSON object for each event, on a line of its own.
final class LogJSON: LogOutput {
    private let stream: OutputStream

    init(_ stream: OutputStream) {
        self.stream = stream
    }

    func take(_ event: DeploymentEvent) throws {
        let isError = event.type == "stderr" || event.type == "fatal"
        let output: String? = isError ? "stderr" : event.type == "stdout" ? "stdout" : nil
        let at = event.date.map { TimeText.utc($0.milliseconds, withMilliseconds: true) }
        try write([
            "type": .string(event.type), "id": .string(orNull: event.id),
            "at": .string(orNull: at), "stream": .string(orNull: output),
            "level": .string(orNull: event.level), "step": .string(orNull: event.step),
            "text": .string(orNull: event.text), "state": .string(orNull: event.state?.rawValue),
            "statusCode": .integer(orNull: event.statusCode),
            "aliasError": .string(orNull: event.aliasError),
        ])
    }

    func flush() throws { try stream.flush() }
    func finish(failed: Bool) throws { try stream.flush() }

    func lost(_ count: Int) throws {
        try write(["type": "lost", "count": .integer(Int64(count))])
    }

    /// Says what the user should know, as an event of zg-env's own.
    func warn(_ warnings: [Context.Warning]) throws {
        for warning in warnings {
            try write([
                "type": "warning", "code": .string(warning.code),
                "message": .string(warning.message),
            ])
        }
        try flush()
    }

    private func write(_ value: JSONValue) throws {
        let bytes = value.encoded
        try bytes.withBytes { try stream.write($0) }
        try stream.write("\n")
    }
}
