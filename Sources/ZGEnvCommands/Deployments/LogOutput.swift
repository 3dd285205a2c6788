internal import CommandLineKit
internal import JSON
internal import Sealing
internal import VercelAPI

/// An output format for log events.
protocol LogOutput: AnyObject {
    func take(_ event: DeploymentEvent) throws
    /// Writes buffered events, since more may not come for a while.
    func flush() throws
    /// Ends the output.
    ///
    /// - Parameter failed: Whether the deployment ended without being built.
    func finish(failed: Bool) throws
    /// Reports events that were too long or damaged.
    func lost(_ count: Int) throws
}

/// Writes each line of the log as time, mark and text.
final class TextLogOutput: LogOutput {
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
            "(\(count == 1 ? "1 event" : "\(count) events") in the log could not be read)\n")
    }
}

/// Writes each event as a JSON object on one line.
final class JSONLogOutput: LogOutput {
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

    /// Writes warnings as events of zg-env.
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
