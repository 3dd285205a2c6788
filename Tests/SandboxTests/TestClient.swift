import Glibc
import JSON
import Sandbox

/// A blocking HTTP/1.1 client that sees how a response ends, with one connection per request.
struct TestClient: Sendable {
    /// How the connection treated the response.
    enum Ending: Equatable {
        case whole
        /// Fewer bytes than announced were received, or the last chunk is missing.
        case cut
        /// The connection was closed without a byte.
        case silent
        /// RST.
        case reset
    }

    struct Answer {
        var status = 0
        var headers: [String: String] = [:]
        var body: [UInt8] = []
        var ending = Ending.whole

        var text: String { String(decoding: body, as: UTF8.self) }
        /// The body as JSON; null if it is not JSON.
        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
        /// The lines of the body as JSON.
        var lines: [JSONValue] {
            body.split(separator: 0x0A).map { (try? JSONValue(parsing: Array($0))) ?? .null }
        }
        var code: String? { json["error"]?["code"]?.string }
    }

    struct ConnectError: Error {}

    let port: UInt16
    var token: String?

    init(url: String, token: String?) {
        port = url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        self.token = token
    }

    func get(_ path: String) throws -> Answer { try send("GET", path) }

    func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil,
        headers: [String: String] = [:]
    ) throws -> Answer {
        try send(method, path, bytes: body?.encoded ?? [], headers: headers)
    }

    func send(
        _ method: String, _ path: String, bytes: [UInt8], headers: [String: String] = [:]
    ) throws -> Answer {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        if let token { head += "Authorization: Bearer \(token)\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if !bytes.isEmpty || method != "GET" { head += "Content-Length: \(bytes.count)\r\n" }
        return try exchange(Array((head + "\r\n").utf8) + bytes)
    }

    /// Sends raw bytes and reads to the end.
    func exchange(_ bytes: [UInt8]) throws -> Answer {
        let socket = try connected()
        defer { close(socket) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            rest = rest.dropFirst(count)
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        var isReset = false
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { room in
                unsafe recv(socket, room.baseAddress, room.count, 0)
            }
            if count < 0 { isReset = errno == ECONNRESET }
            guard count > 0 else { break }
            received.append(contentsOf: buffer[..<count])
        }
        if received.isEmpty { return Answer(ending: isReset ? .reset : .silent) }
        return Self.answer(received)
    }

    /// Returns a new connection.
    func connected() throws -> Int32 {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        unsafe setsockopt(
            file, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(file)
            throw ConnectError()
        }
        return file
    }

    private static func answer(_ received: [UInt8]) -> Answer {
        var answer = Answer()
        let end = received.indices.first { received[$0...].starts(with: [13, 10, 13, 10]) }
        guard let end else {
            answer.ending = .cut
            return answer
        }
        let lines = String(decoding: received[..<end], as: UTF8.self).split(separator: "\r\n")
        answer.status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        for line in lines.dropFirst() {
            let sides = line.split(separator: ":", maxSplits: 1)
            answer.headers[sides[0].lowercased()] =
                sides.count > 1 ? String(sides[1].drop { $0 == " " }) : ""
        }
        let body = Array(received[(end + 4)...])
        if answer.headers["transfer-encoding"] == "chunked" {
            (answer.body, answer.ending) = unchunked(body[...])
        } else {
            answer.body = body
            let announced = answer.headers["content-length"].flatMap { Int($0) }
            if let announced, body.count < announced { answer.ending = .cut }
        }
        return answer
    }

    private static func unchunked(_ bytes: ArraySlice<UInt8>) -> ([UInt8], Ending) {
        var body: [UInt8] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 13) {
            let digits = String(decoding: rest[..<end], as: UTF8.self)
            guard let size = Int(digits, radix: 16) else { break }
            if size == 0 { return (body, .whole) }
            rest = rest[(end + 2)...]
            guard rest.count >= size + 2 else {
                body += rest
                break
            }
            body += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return (body, .cut)
    }
}
