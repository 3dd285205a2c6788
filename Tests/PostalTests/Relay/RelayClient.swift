import CMicroHTTPD
import Foundation
import Glibc

/// One connection to a relay, with every byte under the test's control.
final class RelayClient: @unchecked Sendable {
    struct Answer: Sendable {
        var status: Int
        var head: String
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        /// The error code of a refusal.
        var code: String? {
            let value = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            return (value?["error"] as? [String: Any])?["code"] as? String
        }
    }

    let file: Int32
    private var received: [UInt8] = []

    init(port: UInt16, patience: Int = 20) throws {
        file = zg_connect_loopback(port, patience)
        guard file >= 0 else { throw CheckFailure("nobody listens at \(port)") }
    }

    deinit { close(file) }

    /// Closes this side of the connection; a reading thread gets the end.
    func shut() { shutdown(file, Int32(SHUT_RDWR)) }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(file, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw CheckFailure("the connection is closed") }
            rest = rest.dropFirst(count)
        }
    }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    func request(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: String = ""
    ) throws -> Answer {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: relay\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if !body.isEmpty || method == "POST" { head += "Content-Length: \(body.utf8.count)\r\n" }
        try write(head + "\r\n" + body)
        return try answer()
    }

    /// Sends a webhook; nil signs it with the hook's secret.
    func send(_ body: String, to hook: RelayProcess.Hook, signature: String? = nil) throws -> Answer
    {
        let signature = signature ?? TestWebhook.signature(Array(body.utf8), hook.secret)
        return try request(
            "POST", "/webhook/\(hook.name)", ["x-vercel-signature": signature], body: body)
    }

    /// The next response with a length.
    func answer() throws -> Answer {
        var answer = try head()
        guard
            let line = answer.head.split(separator: "\r\n").first(where: {
                $0.lowercased().hasPrefix("content-length:")
            }), let count = Int(line.split(separator: ":")[1].filter { $0 != " " })
        else { return answer }
        while received.count < count { try receive() }
        answer.body = Array(received.prefix(count))
        received.removeFirst(count)
        return answer
    }

    /// The head of the next response.
    func head() throws -> Answer {
        let mark = Array("\r\n\r\n".utf8)
        while true {
            if let range = received.firstRange(of: mark) {
                let text = String(decoding: received[..<range.lowerBound], as: UTF8.self)
                received.removeFirst(range.upperBound)
                return Answer(
                    status: Int(text.dropFirst(9).prefix(3)) ?? 0, head: text, body: [])
            }
            try receive()
        }
    }

    /// The next chunk of a stream; nil at its end.
    func chunk() throws -> [UInt8]? {
        let mark = Array("\r\n".utf8)
        while true {
            if let range = received.firstRange(of: mark) {
                let size = String(decoding: received[..<range.lowerBound], as: UTF8.self)
                guard let count = Int(size, radix: 16) else {
                    throw CheckFailure("no chunk: \(size)")
                }
                while received.count < range.upperBound + count + 2 { try receive() }
                let chunk = Array(received[range.upperBound..<(range.upperBound + count)])
                received.removeFirst(range.upperBound + count + 2)
                return count == 0 ? nil : chunk
            }
            try receive()
        }
    }

    /// The next line, without its end.
    func line() throws -> String {
        let mark = Array("\r\n".utf8)
        while true {
            if let range = received.firstRange(of: mark) {
                let text = String(decoding: received[..<range.lowerBound], as: UTF8.self)
                received.removeFirst(range.upperBound)
                return text
            }
            try receive()
        }
    }

    /// Exactly this many bytes.
    func bytes(_ count: Int) throws -> [UInt8] {
        while received.count < count { try receive() }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// Waits for bytes; throws at the end of the connection.
    func receive() throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(file, &buffer, buffer.count, 0)
        guard count > 0 else { throw CheckFailure("the connection ended") }
        received += buffer[..<count]
    }

    /// Whether the other side is known to have closed.
    func isClosed() -> Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(file, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || count < 0 && errno != EAGAIN
    }
}

/// A device's open stream, read by its own thread until it ends.
final class EventReader: @unchecked Sendable {
    struct Line: Equatable, Sendable {
        var event: String
        var id: Int64?
        var data: String
    }

    private let client: RelayClient
    private let lines = Collected<Line>()
    private let comments = Collected<String>()
    private let ended = DispatchSemaphore(value: 0)
    let status: Int

    init(_ relay: RelayProcess, _ device: TestDevice, after: Int64? = nil) throws {
        client = try RelayClient(port: relay.port, patience: 60)
        var head =
            "GET /events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(device.token)\r\n"
        if let after { head += "Last-Event-ID: \(after)\r\n" }
        try client.write(head + "\r\n")
        status = try client.head().status
        Thread.detachNewThread { [client, lines, comments, ended] in
            var rest = ""
            while let chunk = (try? client.chunk()) ?? nil {
                rest += String(decoding: chunk, as: UTF8.self)
                while let range = rest.range(of: "\n\n") {
                    Self.take(String(rest[..<range.lowerBound]), lines, comments)
                    rest = String(rest[range.upperBound...])
                }
            }
            ended.signal()
        }
    }

    private static func take(
        _ block: String, _ lines: Collected<Line>, _ comments: Collected<String>
    ) {
        var line = Line(event: "", id: nil, data: "")
        for field in block.split(separator: "\n") {
            if field.hasPrefix(":") {
                comments.add(String(field))
                return
            }
            let parts = field.split(separator: ":", maxSplits: 1)
            let value = parts.count > 1 ? String(parts[1].dropFirst()) : ""
            switch parts.first {
            case "event": line.event = value
            case "id": line.id = Int64(value)
            default: line.data = value
            }
        }
        lines.add(line)
    }

    var all: [Line] { lines.all }
    var commentCount: Int { comments.all.count }

    /// Waits until this many lines were received, up to some seconds.
    @discardableResult
    func wait(for count: Int, seconds: Int = 60) throws -> [Line] {
        let end = ContinuousClock.now + .seconds(seconds)
        while lines.all.count < count {
            guard ContinuousClock.now < end else {
                throw CheckFailure("\(lines.all.count) of \(count) events came")
            }
            usleep(2_000)
        }
        return lines.all
    }

    /// Whether the stream ends within some seconds; the default is far more than it takes.
    func hasEnded(within seconds: Double = 60) -> Bool {
        guard ended.wait(timeout: .now() + seconds) == .success else { return false }
        ended.signal()
        return true
    }

    func close() {
        client.shut()
        _ = hasEnded()
    }
}
