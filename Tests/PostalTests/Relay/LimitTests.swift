import Foundation
import Glibc
import PostalProtocol
import TestSupport
import Testing

/// Connections that take all they can, and their effect on others.
@Suite struct LimitTests {
    @Test func `A thousand half-open connections and slow bodies delay nobody, and are closed`()
        throws
    {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        let stream = try EventReader(relay, device)
        var idle: [RelayClient] = []
        for number in 0..<1_000 {
            let client = try relay.client()
            switch number % 4 {
            case 0: break
            case 1: try client.write("POST /webhook/")
            case 2: try client.write("GET /events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bea")
            default: try client.write("GET / HTTP/1.1\r\nHost: relay\r\nX-Slow: ")
            }
            idle.append(client)
        }
        let slow = try relay.client()
        try slow.write(
            "POST /webhook/\(RelayProcess.hook.name) HTTP/1.1\r\nHost: r\r\nContent-Length: 5000\r\n"
                + "x-vercel-signature: \(String(repeating: "0", count: 40))\r\n\r\n{")
        let began = ContinuousClock.now
        for number in 0..<20 {
            #expect(try relay.send(TestWebhook.deployment("evt_\(number)")).status == 200)
        }
        try stream.wait(for: 20)
        #expect(try relay.metric("zg_postal_connections") > 1_000)
        #expect(ContinuousClock.now - began < .seconds(20))
        // More than may be unfinished: the oldest are closed, and complete requests are served.
        for _ in 0..<200 { idle.append(try relay.client()) }
        let end = ContinuousClock.now + .seconds(60)
        while idle.prefix(1_000).contains(where: { !$0.isClosed() }), ContinuousClock.now < end {
            // A byte now and then does not help.
            try? slow.write(" ")
            usleep(200_000)
        }
        #expect(idle.prefix(1_000).allSatisfy { $0.isClosed() })
        // They are counted after they are closed.
        var closed = try relay.metric("zg_postal_closed_total")
        while closed < 1_000, ContinuousClock.now < end + .seconds(5) {
            usleep(100_000)
            closed = try relay.metric("zg_postal_closed_total")
        }
        #expect(closed >= 1_000)
        #expect(try relay.send(TestWebhook.deployment("evt_after")).status == 200)
        #expect(try stream.wait(for: 21).count == 21)
    }

    @Test func `A device that does not read slows down only itself`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let (deaf, awake) = (try TestDevice(), try TestDevice())
        try deaf.join(relay)
        try awake.join(relay)
        let silent = try relay.client()
        try silent.write(
            "GET /events HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer \(deaf.token)\r\n\r\n")
        #expect(try silent.head().status == 200)
        let stream = try EventReader(relay, awake)
        let sender = try relay.client()
        let long = String(repeating: "\u{1F600}", count: 200)
        for number in 0..<300 {
            let body = TestWebhook.deployment("evt_\(number)", message: long)
            #expect(try sender.send(body, to: RelayProcess.hook).status == 200)
        }
        let came = try stream.wait(for: 300).compactMap(\.id)
        #expect(came == came.sorted() && Set(came).count == 300)
        // The silent device gets everything once it reads.
        var text = ""
        while text.components(separatedBy: "event: sealed").count <= 300 {
            guard let chunk = try silent.chunk() else { break }
            text += String(decoding: chunk, as: UTF8.self)
        }
        let numbers = text.split(separator: "\n").filter { $0.hasPrefix("id: ") }
            .compactMap { Int64($0.dropFirst(4)) }
        #expect(numbers == came)
    }

    @Test func `An address that tries too many tokens must wait, and nobody else`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        let client = try relay.client()
        func ask(_ token: String, from address: String) throws -> RelayClient.Answer {
            try client.request(
                "GET", "/device",
                ["Authorization": "Bearer \(token)", "X-Forwarded-For": "10.0.0.9, \(address)"])
        }
        let wrong = String(repeating: "A", count: 43)
        for _ in 0..<60 { #expect(try ask(wrong, from: "192.0.2.7").status == 401) }
        let over = try ask(wrong, from: "192.0.2.7")
        #expect(over.status == 429 && over.head.contains("Retry-After: 60"))
        #expect(try ask(device.token, from: "192.0.2.8").status == 200)
        // Webhooks come from Vercel's few addresses, and are never counted.
        let body = TestWebhook.deployment("evt_1")
        let answer = try client.request(
            "POST", "/webhook/\(RelayProcess.hook.name)",
            [
                "X-Forwarded-For": "192.0.2.7",
                "x-vercel-signature": TestWebhook.signature(
                    Array(body.utf8), RelayProcess.hook.secret),
            ], body: body)
        #expect(answer.status == 200)
    }

    @Test func `A full disk is reported, and nothing is acknowledged as stored`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        #expect(try relay.send(TestWebhook.deployment("evt_1")).status == 200)
        #expect(try relay.client().request("GET", "/healthz").status == 200)
        // A limit on file sizes makes writes fail as on a broken disk.
        try limit(relay, "65536")
        var answers: [Int] = []
        for number in 0..<400 {
            answers.append(try relay.send(TestWebhook.deployment("evt_full_\(number)")).status)
            if answers.suffix(3) == [503, 503, 503] { break }
        }
        #expect(answers.suffix(3) == [503, 503, 503])
        usleep(1_100_000)
        #expect(try relay.client().request("GET", "/healthz").status == 503)
        #expect(try relay.refused("store_unavailable") > 3)
        try limit(relay, "unlimited")
        usleep(1_100_000)
        #expect(try relay.client().request("GET", "/healthz").status == 200)
        #expect(try relay.send(TestWebhook.deployment("evt_again")).status == 200)
        let kept = answers.filter { $0 == 200 }.count
        let stream = try EventReader(relay, device)
        let came = try stream.wait(for: kept + 2)
        #expect(came.count == kept + 2)
        let last = try #require(came.last)
        #expect(try device.opened(last.data).id == "evt_again")
    }

    private func limit(_ relay: RelayProcess, _ byteCount: String) throws {
        let result = try ProgramRunner(
            path: "/usr/bin/prlimit",
            ["--pid", "\(relay.processID)", "--fsize=\(byteCount):unlimited"]
        ).run()
        guard result.status == 0 else { throw CheckFailure("prlimit: \(result.error)") }
    }
}
