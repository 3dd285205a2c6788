internal import CMicroHTTPD
internal import Glibc

/// Sends one message and reads the response's status.
enum WebhookSender {
    /// Timeout of each step of a delivery.
    private static let patienceSeconds = 2

    /// Returns the response's status; `nil` without a response, or if the URL is not on this
    /// machine.
    static func send(_ message: WebhookMessage) -> Int? {
        guard let address = WebhookAddress(message.url) else { return nil }
        let socket = zg_connect_loopback(address.port, patienceSeconds)
        guard socket >= 0 else { return nil }
        defer { close(socket) }
        let body = Array(message.body.utf8)
        let head = """
            POST \(address.target) HTTP/1.1\r
            Host: \(address.host):\(address.port)\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            User-Agent: zg-env-sandbox\r
            x-vercel-signature: \(message.signature)\r
            Connection: close\r
            \r

            """
        guard write(Array(head.utf8) + body, to: socket) else { return nil }
        return status(from: socket)
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Parses the number in `HTTP/1.1 200 OK`.
    private static func status(from socket: Int32) -> Int? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 512)
        while !bytes.contains(0x0A), bytes.count < 4096 {
            let count = unsafe buffer.withUnsafeMutableBytes { room in
                unsafe recv(socket, room.baseAddress, room.count, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes.append(contentsOf: buffer[..<count])
        }
        let line = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        let words = line.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1.") else { return nil }
        return Int(words[1])
    }
}
