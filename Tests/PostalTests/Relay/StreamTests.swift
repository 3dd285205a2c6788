import Foundation
import Glibc
import PostalProtocol
import TestSupport
import Testing

/// What a device receives, in which order, and starting where.
@Suite struct StreamTests {
    @Test func `A stream continues after the device's last event`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        #expect(device.start == 0)
        var stream = try EventReader(relay, device)
        for number in 1...5 { _ = try relay.send(TestWebhook.deployment("evt_\(number)")) }
        let lines = try stream.wait(for: 5)
        #expect(try lines.map { try device.opened($0.data).id } == (1...5).map { "evt_\($0)" })
        #expect(lines.allSatisfy { $0.event == "sealed" })
        let ids = lines.compactMap(\.id)
        stream.close()

        // After the number it sends, which also acknowledges it.
        stream = try EventReader(relay, device, after: ids[2])
        #expect(try stream.wait(for: 2).compactMap(\.id) == Array(ids[3...]))
        stream.close()
        func described() throws -> [String: Any] {
            let answer = try relay.client().request("GET", "/device", device.authorization)
            let value = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            return value ?? [:]
        }
        let end = ContinuousClock.now + .seconds(60)
        while try described()["acknowledged"] as? Int64 != ids[2], ContinuousClock.now < end {
            usleep(5_000)
        }
        #expect(try described()["acknowledged"] as? Int64 == ids[2])
        #expect(try described()["newest"] as? Int64 == ids[4])
        #expect(try described()["accounts"] as? [String] == ["team_alpha"])

        // Without a number, after the last acknowledged one; a smaller number changes nothing.
        func acknowledge(_ body: String) throws -> Int {
            try relay.client().request(
                "POST", "/device/acknowledge", device.authorization, body: body
            ).status
        }
        #expect(try acknowledge(#"{"number":\#(ids[3])}"#) == 204)
        #expect(try acknowledge(#"{"number":\#(ids[0])}"#) == 204)
        #expect(try acknowledge(#"{"number":\#(ids[4] + 1)}"#) == 400)
        #expect(try acknowledge(#"{"number":-1}"#) == 400)
        #expect(try acknowledge("{}") == 400)
        for after in [nil, ids[0], 999_999] as [Int64?] {
            stream = try EventReader(relay, device, after: after)
            #expect(try stream.wait(for: 1).compactMap(\.id) == [ids[4]])
            stream.close()
        }
        let refused = try relay.client().request(
            "GET", "/events", device.authorization.merging(["Last-Event-ID": "x"]) { $1 })
        #expect(refused.status == 400)
    }

    @Test func `An idle stream sends keep-alives`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        let stream = try EventReader(relay, device)
        let end = ContinuousClock.now + .seconds(60)
        while stream.commentCount < 2, ContinuousClock.now < end { usleep(50_000) }
        #expect(stream.commentCount == 2)
        _ = try relay.send(TestWebhook.deployment("evt_1"))
        #expect(try stream.wait(for: 1).count == 1)
    }

    @Test func `The second stream of a device ends the first`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        let first = try EventReader(relay, device)
        let second = try EventReader(relay, device)
        #expect(first.hasEnded())
        #expect(first.all.isEmpty)
        _ = try relay.send(TestWebhook.deployment("evt_1"))
        #expect(try second.wait(for: 1).count == 1)
        #expect(try relay.metric("zg_postal_streams") == 1)
    }

    @Test func `A thousand events wait, and the number of dropped ones is reported`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        let outcomes = inParallel(4) { thread -> Int in
            let client = try relay.client()
            return try (0..<260).filter { number in
                let body = TestWebhook.deployment("evt_\(thread)_\(number)")
                return try client.send(body, to: RelayProcess.hook).status == 200
            }.count
        }
        #expect(outcomes == [260, 260, 260, 260])
        let stream = try EventReader(relay, device)
        let lines = try stream.wait(for: 1_001)
        #expect(lines[0] == .init(event: "missed", id: 40, data: #"{"count":40}"#))
        #expect(lines.dropFirst().compactMap(\.id) == Array(41...1_040))
    }

    @Test func `SIGTERM answers accepted requests and ends streams, and nothing is lost`()
        throws
    {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        let stream = try EventReader(relay, device)
        let answers = Collected<String>()
        let port = relay.port
        let senders = (0..<4).map { thread in
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for number in 0..<10_000 {
                    let id = "evt_\(thread)_\(number)"
                    guard let client = try? RelayClient(port: port),
                        let answer = try? client.send(
                            TestWebhook.deployment(id), to: RelayProcess.hook)
                    else { break }
                    if answer.status == 200 { answers.add(id) } else { break }
                }
                done.signal()
            }
            return done
        }
        for _ in 0..<2_000 where answers.all.count <= 10 { usleep(10_000) }
        let began = ContinuousClock.now
        #expect(relay.stop() == .exited(143))
        #expect(ContinuousClock.now - began < .seconds(30))
        #expect(stream.hasEnded())
        for sender in senders { sender.wait() }
        #expect(answers.all.count > 10)
        try relay.start()
        let had = stream.all
        let again = try EventReader(relay, device, after: had.last?.id)
        var ids = Set(try had.map { try device.opened($0.data).id })
        let end = ContinuousClock.now + .seconds(60)
        while !ids.isSuperset(of: answers.all), ContinuousClock.now < end {
            usleep(10_000)
            ids.formUnion(try again.all.map { try device.opened($0.data).id })
        }
        #expect(ids.isSuperset(of: answers.all))
    }

    @Test func `A new hook is found, and a removed one is refused after SIGHUP`()
        throws
    {
        let relay = try RelayProcess()
        try relay.start()
        let hook = RelayProcess.Hook(
            name: "hook-that-comes-late", account: "team_alpha", secret: "late-secret")
        #expect(try relay.send(TestWebhook.deployment("evt_1"), to: hook).status == 401)
        try relay.write(hook)
        usleep(1_100_000)
        #expect(try relay.send(TestWebhook.deployment("evt_1"), to: hook).status == 200)
        try FileManager.default.removeItem(
            atPath: relay.directory.path("hooks/zg-webhook.\(hook.name)"))
        relay.signal(SIGHUP)
        let end = ContinuousClock.now + .seconds(60)
        while try relay.send(TestWebhook.deployment("evt_2"), to: hook).status == 200,
            ContinuousClock.now < end
        {
            usleep(10_000)
        }
        #expect(try relay.send(TestWebhook.deployment("evt_2"), to: hook).status == 401)
    }
}
