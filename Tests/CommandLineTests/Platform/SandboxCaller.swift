import Glibc
import JSON
import Sandbox

/// Another user of the sandbox's API: one connection for each request, no retries.
struct SandboxCaller: Sendable {
    struct NoAnswer: Error {}

    private let port: UInt16
    private let token: String

    init(url: String, token: String) {
        port = url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        self.token = token
    }

    /// Returns the response's JSON value; throws for any status but 2xx.
    @discardableResult
    func send(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue {
        let bytes = body?.encoded ?? []
        let head =
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            + "Authorization: Bearer \(token)\r\nContent-Length: \(bytes.count)\r\n\r\n"
        let answer = try exchange(Array(head.utf8) + bytes)
        let end = answer.indices.first { answer[$0...].starts(with: [13, 10, 13, 10]) }
        guard let end, answer.starts(with: Array("HTTP/1.1 2".utf8)) else { throw NoAnswer() }
        let content = Array(answer[(end + 4)...])
        return (try? JSONValue(parsing: content)) ?? .null
    }

    private func exchange(_ bytes: [UInt8]) throws -> [UInt8] {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw NoAnswer() }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw NoAnswer() }
            rest = rest.dropFirst(count)
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { room in
                unsafe recv(socket, room.baseAddress, room.count, 0)
            }
            guard count > 0 else { return received }
            received.append(contentsOf: buffer[..<count])
        }
    }
}
