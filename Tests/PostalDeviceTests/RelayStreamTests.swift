import CurlTransport
import Foundation
import HTTPClient
import PostalProtocol
import Sealing
import TestSupport
import Testing
import Threads

@testable import PostalDevice

/// A relay whose every byte a test decides, and a device that follows it.
@Suite("The stream of a relay", .timeLimit(.minutes(3))) struct RelayStreamTests {
    static let token = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123_-4"
    static let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    static func client(_ origin: String) throws -> RelayClient {
        let arena = SecretArena(firstRegionByteCount: 4_096)
        return RelayClient(
            transport: try CurlTransport(), origin: try APIOrigin(origin),
            token: try Array(token.utf8).withBytes { try arena.copy($0) })
    }

    static func stream(_ server: LocalServer, after number: Int64 = 0) throws -> RelayStream {
        RelayStream(
            try client(server.origin), acknowledger: try client(server.origin),
            room: SystemSleeper(), after: number, random: { 0 })
    }

    /// Takes messages until this many arrived, a status arrived, or the time is over.
    static func take(
        _ stream: RelayStream, _ count: Int, seconds: Double = 20,
        until status: RelayStream.Status? = nil
    ) -> [RelayMessage] {
        var messages: [RelayMessage] = []
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            messages += stream.take()
            if messages.count >= count, status == nil || stream.status == status { break }
            usleep(5_000)
        }
        return messages
    }

    static func frame(_ number: Int64, _ box: [UInt8]) -> String {
        "id: \(number)\nevent: sealed\ndata: \(Data(box).base64EncodedString())\n\n"
    }

    @Test("is followed with the token from the last position, and stored events are acknowledged")
    func follows() throws {
        let device = try TestDevice()
        let event = TestDevice.event("evt_1")
        let frame = Self.frame(8, device.box(event))
        let isSent = Monitor(false)
        let server = try LocalServer { request in
            guard request.target == "/events" else { return [.answer(204, "")] }
            return [
                .text(Self.head),
                .stream {
                    isSent.look { isSent in
                        defer { isSent = true }
                        return isSent ? [] : Array(frame.utf8)
                    }
                },
            ]
        }
        defer { server.stop() }
        let stream = try Self.stream(server, after: 7)
        #expect(stream.status == .connecting)
        #expect(stream.start() && stream.start())
        let messages = Self.take(stream, 1, until: .up)
        var inbox = PostalInbox()
        let effects = messages.map {
            inbox.take($0, accounts: ["team_1"], with: device.opener)
        }
        #expect(effects == [.event(event)] && !stream.hasMessages)
        stream.keep(8)
        for _ in 0..<400 where server.requests.count < 2 { usleep(10_000) }
        stream.stop()
        let requests = server.requests
        #expect(requests.map(\.target) == ["/events", "/device/acknowledge"])
        #expect(requests.allSatisfy { $0.headers["authorization"] == "Bearer \(Self.token)" })
        #expect(requests.first?.headers["last-event-id"] == "7")
        #expect(requests.last.map { String(decoding: $0.body, as: UTF8.self) } == #"{"number":8}"#)
    }

    @Test("is reopened wherever it was cut, without losing anything")
    func cuts() throws {
        let device = try TestDevice()
        let events = (1...3).map { TestDevice.event("evt_\($0)") }
        let frames = events.enumerated().map { Self.frame(Int64($0 + 1), device.box($1)) }.joined()
        let bytes = Array((": hello\n\n" + frames).utf8)
        var random = SystemRandomNumberGenerator()
        for round in 0..<6 {
            let cut = round == 0 ? 0 : Int.random(in: 0..<bytes.count, using: &random)
            let server = try LocalServer { request in
                guard request.target == "/events" else { return [.answer(204, "")] }
                let isFirst = request.number == 0
                return [
                    .text(Self.head), .bytes(isFirst ? Array(bytes[..<cut]) : bytes),
                    isFirst ? .close : .stream { [] },
                ]
            }
            defer { server.stop() }
            let stream = try Self.stream(server)
            #expect(stream.start())
            var inbox = PostalInbox()
            var found: [PostalEvent] = []
            let end = ContinuousClock.now + .seconds(60)
            while found.count < 3, ContinuousClock.now < end {
                for message in stream.take() {
                    let effect = inbox.take(message, accounts: ["team_1"], with: device.opener)
                    if case .event(let event) = effect { found.append(event) }
                }
                usleep(5_000)
            }
            #expect(found == events, "cut at \(cut)")
            // Unacknowledged events of the first connection came again.
            stream.stop()
        }
    }

    @Test("ends once the device is refused or removed, even in the middle")
    func refused() throws {
        for answer in [
            [LocalServer.Action.answer(401, #"{"error":{"code":"device_refused"}}"#)],
            [.text(Self.head), .text(": hi\n\nevent: removed\ndata: {}\n\n"), .stream { [] }],
        ] {
            let server = try LocalServer { _ in answer }
            defer { server.stop() }
            let stream = try Self.stream(server)
            #expect(stream.start())
            _ = Self.take(stream, 0, until: .refused)
            #expect(stream.status == .refused)
            let count = server.requests.count
            usleep(1_500_000)
            #expect(server.requests.count == count && count == 1)
        }
        // Acknowledging reports it too.
        let server = try LocalServer { request in
            request.target == "/events"
                ? [.text(Self.head), .text(": hi\n\n"), .stream { [] }] : [.answer(401, "{}")]
        }
        defer { server.stop() }
        let stream = try Self.stream(server)
        #expect(stream.start())
        _ = Self.take(stream, 0, until: .up)
        stream.keep(1)
        _ = Self.take(stream, 0, until: .refused)
        #expect(stream.status == .refused)
    }

    @Test("is down, with growing pauses, while the server is not a relay")
    func noRelay() throws {
        for (answer, words) in [
            (
                [LocalServer.Action.answer(302, "", headers: ["Location: http://127.0.0.1:1/"])],
                "not a relay"
            ),
            ([.answer(404, "{}")], "not a relay"), ([.answer(503, "{}")], "busy"),
            ([.close], "not responding"), ([.text(Self.head), .close], "ended"),
            (
                [.text("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n<html>hello</html>\r\n")],
                "ended"
            ),
        ] {
            let server = try LocalServer { _ in answer }
            defer { server.stop() }
            let stream = try Self.stream(server)
            #expect(stream.start())
            let end = ContinuousClock.now + .seconds(60)
            var reason: String?
            while reason == nil, ContinuousClock.now < end {
                if case .down(let words) = stream.status { reason = words }
                usleep(5_000)
            }
            #expect(reason?.contains(words) == true, "\(reason ?? "none")")
            usleep(2_500_000)
            // At once, after 0.75 s and after 1.5 s: not in a loop.
            #expect((1...4).contains(server.requests.count), "\(server.requests.count)")
            // No redirect was followed, and the token was sent nowhere else.
            #expect(server.requests.allSatisfy { $0.target == "/events" })
        }
    }

    @Test("waits as long as the relay requests")
    func retryAfter() throws {
        let server = try LocalServer { _ in [.answer(503, "{}", headers: ["Retry-After: 60"])] }
        defer { server.stop() }
        let stream = try Self.stream(server)
        #expect(stream.start())
        usleep(4_000_000)
        #expect(server.requests.count == 1)
    }

    @Test("that never ends, or sends endless lines, stays within its memory limit")
    func endless() throws {
        let device = try TestDevice()
        let flood = Array(
            (0..<200).map { Self.frame(Int64($0 + 1), device.box(TestDevice.event("e\($0)"))) }
                .joined().utf8)
        let garbage = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for bytes in [flood, garbage] {
            let sent = Monitor(0)
            let server = try LocalServer { _ in
                [
                    .text(Self.head + ": hi\n\n"),
                    .stream {
                        sent.look { $0 += 1 }
                        return bytes
                    },
                ]
            }
            defer { server.stop() }
            let stream = try Self.stream(server)
            #expect(stream.start())
            _ = Self.take(stream, 0, until: .up)
            usleep(1_000_000)
            let early = sent.look { $0 }
            usleep(1_000_000)
            if bytes == flood {
                // Nobody takes them, so the relay is not read: the flood stops.
                #expect(sent.look { $0 } - early <= 1)
                #expect(stream.take().count <= 64)
            } else {
                #expect(stream.take().isEmpty)
            }
            let begun = ContinuousClock.now
            stream.stop()
            #expect(ContinuousClock.now - begun < .seconds(30))
        }
    }

    @Test("is read even a byte at a time")
    func slow() throws {
        let device = try TestDevice()
        let event = TestDevice.event("evt_1")
        let bytes = Monitor(Array(Self.frame(1, device.box(event)).utf8)[...])
        let server = try LocalServer { _ in
            [
                .text(Self.head),
                .stream {
                    usleep(1_000)
                    return bytes.look { bytes in bytes.popFirst().map { [$0] } ?? [] }
                },
            ]
        }
        defer { server.stop() }
        let stream = try Self.stream(server)
        #expect(stream.start())
        var inbox = PostalInbox()
        let effects = Self.take(stream, 1).map {
            inbox.take($0, accounts: ["team_1"], with: device.opener)
        }
        #expect(effects == [.event(event)])
    }
}
