import Foundation
import HTTPClient
import Sealing
import Testing
import VercelAPI

/// A server in fake time with a request limit per minute, which reports the remaining number.
private final class LimitedServer {
    let room: FakeSleeper
    let limit: Int
    let isSliding: Bool
    var times: [Duration] = []
    var refused = 0

    init(room: FakeSleeper, limit: Int, isSliding: Bool) {
        self.room = room
        self.limit = limit
        self.isSliding = isSliding
    }

    func answer(_ body: String) -> Result<HTTPResponse, TransportError> {
        let now = room.elapsed
        let minute = Duration.seconds(60)
        let begin = isSliding ? now - minute : .seconds(now.components.seconds / 60 * 60)
        let recent = times.filter { isSliding ? $0 > begin : $0 >= begin }
        let reset =
            isSliding ? (recent.first ?? now) + minute : begin + minute
        let left = reset - .seconds(1000)
        var headers = [
            ("X-RateLimit-Limit", "\(limit)"),
            ("X-RateLimit-Reset", "\(FakeSleeper.startSecond + left.components.seconds)"),
        ]
        guard recent.count < limit else {
            refused += 1
            headers.append(("X-RateLimit-Remaining", "0"))
            headers.append(("Retry-After", "\((reset - now).components.seconds + 1)"))
            return .answer(429, "", headers: headers)
        }
        times.append(now)
        headers.append(("X-RateLimit-Remaining", "\(limit - recent.count - 1)"))
        room.elapsed += .milliseconds(5)
        return .answer(200, body, headers: headers)
    }
}

@Suite struct `Vercel's rate limits` {
    private func client(
        _ transport: FakeTransport, _ room: FakeSleeper
    ) throws -> VercelClient {
        try VercelClient(
            transport: transport, origin: .vercel, token: SecretArena().secret("t"),
            waitingRoom: room, random: { 0 })
    }

    @Test(arguments: [true, false], [120, 7])
    func `a thousand reads get through a limit without a refusal`(
        isSliding: Bool, limit: Int
    ) throws {
        let room = FakeSleeper()
        let server = LimitedServer(room: room, limit: limit, isSliding: isSliding)
        let transport = FakeTransport { sent, _ in
            let id = sent.target.split(separator: "/").last ?? ""
            return server.answer(
                "{\"id\":\"\(id)\",\"key\":\"K\",\"type\":\"encrypted\",\"value\":\"v\(id)\",\"decrypted\":true}"
            )
        }
        let client = try client(transport, room)
        let arena = SecretArena()
        let count = limit == 120 ? 1000 : 100
        let wanted = (0..<count).map { (project: "p\($0 % 100)", id: "e\($0)") }
        let results = try client.environmentVariables(wanted, valuesInto: arena)
        for (place, result) in results.enumerated() {
            #expect(try result.get().value?.exposedText == "ve\(place)")
        }
        #expect(server.refused == 0)
        #expect(transport.sent.count == count)
        // As fast as the limit allows, and a window at most slower.
        let minutes = (count + limit - 1) / limit
        #expect(room.elapsed - .seconds(1000) <= .seconds(62 * minutes + 1))
    }

    @Test func `calls of one group count together`() throws {
        let room = FakeSleeper()
        let server = LimitedServer(room: room, limit: 120, isSliding: true)
        let transport = FakeTransport { sent, _ in
            sent.target.contains("projects?")
                ? server.answer(#"{"projects":[]}"#) : server.answer(#"{"envs":[]}"#)
        }
        let client = try client(transport, room)
        for round in 0..<20 {
            _ = try client.projects()
            let names = (0..<15).map { "r\(round)p\($0)" }
            for result in try client.environmentVariables(ofProjects: names) {
                _ = try result.get()
            }
        }
        #expect(server.refused == 0)
        #expect(transport.sent.count == 320)
    }

    @Test func `a second connection to Vercel does not wait for the first one's requests`()
        throws
    {
        let room = FakeSleeper()
        let other = FakeTransport { _, _ in .answer(200, #"{"projects":[]}"#) }
        let found = Found()
        let transport = FakeTransport { _, _ in
            found.result = found.client.map { client in
                Result { try client.connected(through: other).projects() }
            }
            return .answer(200, #"{"projects":[]}"#)
        }
        found.client = try client(transport, room)
        _ = try found.client?.projects()
        #expect(try #require(found.result).get().isEmpty)
        #expect(other.sent.count == 1 && room.waits.isEmpty)
    }

    private final class Found {
        var client: VercelClient?
        var result: Result<[Project], any Error>?
    }

    @Test func `a few requests are sent before the first response, and the rest waits for it`()
        throws
    {
        let room = FakeSleeper()
        let transport = FakeTransport { _, _ in .answer(200, #"{"envs":[]}"#) }
        let client = try client(transport, room)
        _ = try client.environmentVariables(ofProjects: (0..<50).map { "p\($0)" })
        #expect(transport.sent.count == 50)
        #expect(transport.largestBatch == 46)
        #expect(room.waits.isEmpty)
    }

    @Test(arguments: [
        [("X-RateLimit-Limit", "0"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1")],
        [("X-RateLimit-Limit", "5"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1")],
        [
            ("X-RateLimit-Limit", "5"), ("X-RateLimit-Remaining", "0"),
            ("X-RateLimit-Reset", "99999999999999999"),
        ],
        [("X-RateLimit-Limit", "5"), ("X-RateLimit-Remaining", "0")],
        [
            ("X-RateLimit-Limit", "x"), ("X-RateLimit-Remaining", "-1"),
            ("X-RateLimit-Reset", "now"),
        ],
    ])
    func `senseless header fields delay nothing`(headers: [(String, String)]) throws {
        let room = FakeSleeper()
        let transport = FakeTransport { _, _ in
            .answer(200, #"{"envs":[]}"#, headers: headers)
        }
        let client = try client(transport, room)
        let results = try client.environmentVariables(ofProjects: (0..<20).map { "p\($0)" })
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        #expect(transport.sent.count == 20)
        #expect(room.waits.isEmpty)
    }

    @Test func `a limit used up for too long is an error before anything is sent`() throws {
        let room = FakeSleeper()
        let transport = FakeTransport { _, _ in
            .answer(
                200, #"{"envs":[]}"#,
                headers: [
                    ("X-RateLimit-Limit", "5"), ("X-RateLimit-Remaining", "0"),
                    ("X-RateLimit-Reset", "\(FakeSleeper.startSecond + 3000)"),
                ])
        }
        let client = try client(transport, room)
        _ = try client.environmentVariables(ofProject: "a")
        do throws(VercelAPIError) {
            _ = try client.environmentVariables(ofProject: "b")
            Issue.record("sent")
        } catch {
            #expect(error.code == .rateLimited)
            #expect(error.retryAfter == .seconds(3001))
        }
        #expect(transport.sent.count == 1)
    }
}
