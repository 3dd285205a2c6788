import CurlTransport
import Foundation
import HTTPClient
import TestSupport
import Testing
import VercelAPI

@Suite struct `Time-outs and interrupts` {
    @Test func `waiting for the first byte times out`() throws {
        let server = try LocalServer { _ in [.pause(milliseconds: 9000), .answer()] }
        defer { server.stop() }
        let timeouts = HTTPTimeouts(firstByte: .milliseconds(200))
        let clock = ContinuousClock()
        var error: TransportError?
        let time = try clock.measure {
            error = try CurlTransport().failure(of: server.request(timeouts: timeouts))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.mayHaveReachedServer == true)
        #expect(time >= .milliseconds(190) && time < .seconds(8))
    }

    @Test func `a response that stalls times out`() throws {
        let server = try LocalServer { _ in
            [
                .text("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n{"), .pause(milliseconds: 150),
                .text("\"a\""), .pause(milliseconds: 9000), .text(":1}  "),
            ]
        }
        defer { server.stop() }
        let timeouts = HTTPTimeouts(idle: .milliseconds(300))
        let clock = ContinuousClock()
        var error: TransportError?
        let time = try clock.measure {
            error = try CurlTransport().failure(of: server.request(timeouts: timeouts))
        }
        #expect(error?.code == .timedOut)
        #expect(time >= .milliseconds(440) && time < .seconds(8))
    }

    @Test func `a response that trickles times out`() throws {
        let server = try LocalServer { _ in
            [.text("HTTP/1.1 200 X\r\nContent-Length: 900\r\n\r\n")]
                + (0..<40).flatMap { _ in
                    [.pause(milliseconds: 50), .text(" ")] as [LocalServer.Action]
                }
        }
        defer { server.stop() }
        let timeouts = HTTPTimeouts(idle: .milliseconds(300), total: .milliseconds(500))
        let error = try CurlTransport().failure(of: server.request(timeouts: timeouts))
        #expect(error?.code == .timedOut)
    }

    /// A response that arrives a byte every 50 milliseconds, after a head of over 100 bytes.
    private static func drip(_ count: Int) -> [LocalServer.Action] {
        let head = "HTTP/1.1 200 X\r\nX-Fill: \(String(repeating: "x", count: 100))\r\n"
        return [.text(head + "Content-Length: \(count)\r\n\r\n")]
            + (0..<count).flatMap { _ in
                [.pause(milliseconds: 50), .text(" ")] as [LocalServer.Action]
            }
    }

    @Test("VER-B1: a response below the slowest rate ends, and is not repeated")
    func slowResponse() throws {
        let server = try LocalServer { _ in Self.drip(200) }
        defer { server.stop() }
        let timeouts = HTTPTimeouts(slowest: .init(byteCount: 100, span: .milliseconds(400)))
        let clock = ContinuousClock()
        var error: TransportError?
        let time = try clock.measure {
            error = try CurlTransport().failure(of: server.request(timeouts: timeouts))
        }
        #expect(error?.code == .tooSlow && error?.mayHaveReachedServer == true)
        #expect(time >= .milliseconds(390) && time < .seconds(8))
    }

    @Test("VER-B1: a followed log may be as slow as it is")
    func slowLog() throws {
        let server = try LocalServer { _ in Self.drip(30) }
        defer { server.stop() }
        let timeouts = HTTPTimeouts(
            total: nil, slowest: .init(byteCount: 100, span: .milliseconds(200)))
        var count = 0
        let response = try CurlTransport().stream(server.request(timeouts: timeouts)) { bytes in
            count += bytes.byteCount
            return true
        }
        #expect(response.status == 200 && count == 30)
    }

    @Test func `an interrupt ends requests at once`() throws {
        let server = try LocalServer { _ in [.pause(milliseconds: 9000), .answer()] }
        defer { server.stop() }
        let clock = ContinuousClock()
        let begin = clock.now
        var configuration = CurlConfiguration()
        configuration.shouldCancel = { clock.now - begin > .milliseconds(300) }
        let transport = try CurlTransport(configuration)
        let requests = try (0..<10).map { _ in try server.request() }
        let answers = transport.send(requests, concurrency: 4)
        #expect(clock.now - begin < .seconds(5))
        let codes = answers.compactMap { answer -> TransportError.Code? in
            guard case .failure(let error) = answer else { return nil }
            return error.code
        }
        #expect(codes.filter { $0 == .cancelled }.count == 4)
        #expect(codes.count == 10)
        #expect(server.requests.count == 4)
    }
}
