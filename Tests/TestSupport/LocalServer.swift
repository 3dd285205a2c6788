import Foundation
import Glibc
internal import Threads

/// A small HTTP/1.1 server on 127.0.0.1 whose every response a test decides, byte by byte.
package final class LocalServer: Sendable {
    package struct Request: Sendable {
        package let method: String
        package let target: String
        package let headers: [String: String]
        package let body: [UInt8]
        /// The connection it came on, counted from 0.
        package let connection: Int
        /// The number of requests before it.
        package let number: Int
    }

    package enum Action: Sendable {
        case bytes([UInt8])
        case pause(milliseconds: Int)
        case close
        /// Called repeatedly for bytes to send; empty for "nothing yet", nil for the end.
        case stream(@Sendable () -> [UInt8]?)

        package static func text(_ text: String) -> Action { .bytes(Array(text.utf8)) }

        package static func answer(
            _ status: Int = 200, _ body: String = "{}", headers: [String] = []
        ) -> Action {
            let lines =
                ["HTTP/1.1 \(status) X", "Content-Length: \(body.utf8.count)"] + headers
            return .text(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
        }
    }

    private struct State {
        var requests: [Request] = []
        var connections = 0
        var underWay = 0
        var mostUnderWay = 0
        var isStopped = false
    }

    package let port: Int
    private let listener: Int32
    private let state = Monitor(State())
    private let handler: @Sendable (Request) -> [Action]

    package init(_ handler: @escaping @Sendable (Request) -> [Action]) throws {
        self.handler = handler
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let bound = unsafe bind(listener, address, length)
                _ = unsafe getsockname(listener, address, &length)
                return bound
            }
        }
        guard listener >= 0, bound == 0, listen(listener, 64) == 0 else { throw POSIXError(.EIO) }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in acceptAll() }
    }

    deinit { close(listener) }

    package var origin: String { "http://127.0.0.1:\(port)" }
    package var requests: [Request] { state.look { $0.requests } }
    package var connectionCount: Int { state.look { $0.connections } }
    package var mostUnderWay: Int { state.look { $0.mostUnderWay } }

    package func stop() {
        state.look { $0.isStopped = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func acceptAll() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0, !state.look({ $0.isStopped }) else { return }
            let number = state.look { state in
                state.connections += 1
                return state.connections - 1
            }
            Thread.detachNewThread { [self] in
                serve(connection, number: number)
                close(connection)
            }
        }
    }

    private func serve(_ connection: Int32, number: Int) {
        var pending: [UInt8] = []
        while let request = read(connection, number: number, pending: &pending) {
            state.look { state in
                state.requests.append(request)
                state.underWay += 1
                state.mostUnderWay = max(state.mostUnderWay, state.underWay)
            }
            let shouldContinue = handler(request).allSatisfy { perform($0, on: connection) }
            state.look { $0.underWay -= 1 }
            guard shouldContinue else { return }
        }
    }

    private func perform(_ action: Action, on connection: Int32) -> Bool {
        switch action {
        case .close: return false
        case .pause(let milliseconds):
            usleep(UInt32(milliseconds) * 1000)
            return true
        case .stream(let next):
            while let bytes = next() {
                guard bytes.isEmpty || perform(.bytes(bytes), on: connection) else { return false }
                if bytes.isEmpty { usleep(10_000) }
            }
            return true
        case .bytes(let bytes):
            var start = 0
            while start < bytes.count {
                let sent = unsafe bytes.withUnsafeBytes { all in
                    unsafe send(
                        connection, all.baseAddress.map { unsafe $0 + start }, all.count - start,
                        Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { return false }
                start += sent
            }
            return true
        }
    }

    private func read(_ connection: Int32, number: Int, pending: inout [UInt8]) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        var headEnd: Int?
        while true {
            headEnd = pending.firstRange(of: end)?.upperBound
            if headEnd != nil { break }
            guard receive(connection, into: &pending) else { return nil }
        }
        guard let headEnd else { return nil }
        let head = String(decoding: pending[..<(headEnd - 4)], as: UTF8.self)
        var lines = head.components(separatedBy: "\r\n")
        let words = lines.removeFirst().split(separator: " ")
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while pending.count < headEnd + length {
            guard receive(connection, into: &pending) else { return nil }
        }
        let body = Array(pending[headEnd..<(headEnd + length)])
        pending.removeFirst(headEnd + length)
        guard words.count >= 2 else { return nil }
        return Request(
            method: String(words[0]), target: String(words[1]), headers: headers, body: body,
            connection: number, number: state.look { $0.requests.count })
    }

    private func receive(_ connection: Int32, into pending: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        pending += buffer[..<count]
        return true
    }
}
