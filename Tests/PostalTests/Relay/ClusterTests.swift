import Foundation
import Glibc
import PostalProtocol
import TestSupport
import Testing

/// Three NATS servers and two relays; at any moment one of each ends.
@Suite(.serialized) struct ClusterTests {
    private static func relays(_ nats: PrivateNATS) throws -> [RelayProcess] {
        let store = ["--nats", nats.addresses.joined(separator: ",")]
        return try (0..<2).map { _ in try RelayProcess(store: store) }
    }

    @Test
    func `Servers and relays end at any moment, and every acknowledged event reaches every device`()
        throws
    {
        var random = ProofRandom(31)
        let nats = try PrivateNATS(servers: 3)
        let relays = try Self.relays(nats)
        for relay in relays { try relay.startWhenPossible() }
        try relays[0].waitForCopies()
        let devices = try (0..<3).map { _ in try TestDevice() }
        for (place, device) in devices.enumerated() {
            try device.joinWhenPossible(relays[place % 2])
        }
        let readers = devices.map(ClusterReader.init)
        let report = ClusterReport(nats: nats, relays: relays, readers: readers)
        var answered = Set<String>()
        for round in 0..<Proof.count(short: 2, full: 100) {
            let what = "\(random.seedText), round \(round)"
            let answers = Collected<String>()
            let isOver = Collected<Bool>()
            let senders = (0..<2).map { thread in
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    Self.send("evt_\(round)_\(thread)", relays, answers, isOver)
                    done.signal()
                }
                return done
            }
            func poll(milliseconds: Int) throws {
                let end = ContinuousClock.now + .milliseconds(milliseconds)
                while ContinuousClock.now < end {
                    for reader in readers { try reader.poll(relays) }
                    usleep(5_000)
                }
            }
            let (node, relay) = (
                Int.random(in: 0..<3, using: &random), Int.random(in: 0..<2, using: &random)
            )
            try poll(milliseconds: Int.random(in: 50...300, using: &random))
            nats.kill(node)
            try poll(milliseconds: Int.random(in: 0...500, using: &random))
            relays[relay].kill()
            try poll(milliseconds: Int.random(in: 200...800, using: &random))
            try report.explain { try relays[relay].startWhenPossible() }
            try nats.start(node)
            try poll(milliseconds: 500)
            // However busy the machine, something was acknowledged in each round.
            let end = ContinuousClock.now + .seconds(60)
            while answers.all.count < 11, ContinuousClock.now < end { try poll(milliseconds: 50) }
            isOver.add(true)
            for sender in senders { sender.wait() }
            answered.formUnion(answers.all)
            try ClusterReader.wait(readers, for: answered, relays, what, report: report)
            try report.explain { try relays[0].waitForCopies() }
        }
        #expect(answered.count > 20)
        try allDown(nats, relays, readers)
    }

    /// Most events of one sender in a round. A relay keeps 1,000 for a device, which reads none while
    /// its relay starts.
    private static let eventLimit = 400

    /// Sends events until stopped, each until it is answered with 200, as Vercel does.
    private static func send(
        _ name: String, _ relays: [RelayProcess], _ answers: Collected<String>,
        _ isOver: Collected<Bool>
    ) {
        var (number, turn) = (0, 0)
        while isOver.all.isEmpty {
            guard number < eventLimit else {
                usleep(20_000)
                continue
            }
            let id = "\(name)_\(number)"
            let body = TestWebhook.deployment(id)
            let end = ContinuousClock.now + .seconds(30)
            while ContinuousClock.now < end {
                turn += 1
                if (try? relays[turn % 2].send(body))?.status == 200 {
                    answers.add(id)
                    break
                }
                usleep(20_000)
            }
            number += 1
            usleep(5_000)
        }
    }

    /// Without servers every event is refused with an error; once they return, everything continues.
    private func allDown(
        _ nats: PrivateNATS, _ relays: [RelayProcess], _ readers: [ClusterReader]
    ) throws {
        for number in 0..<3 { nats.kill(number) }
        for relay in relays {
            let body = TestWebhook.deployment("evt_nobody")
            #expect(try relay.send(body).status == 503)
            sleep(1)
            #expect(try relay.client().request("GET", "/healthz").status == 503)
        }
        for number in 0..<3 { try nats.start(number) }
        for relay in relays {
            let end = ContinuousClock.now + .seconds(60)
            while try relay.client().request("GET", "/healthz").status != 200 {
                guard ContinuousClock.now < end else { throw CheckFailure("it stays ill") }
                usleep(100_000)
            }
        }
        #expect(try relays[0].send(TestWebhook.deployment("evt_nobody")).status == 200)
        try ClusterReader.wait(readers, for: ["evt_nobody"], relays, "after all were down")
    }

    @Test func `Two relays act as one: invites, streams and removals are visible at both`() throws {
        let nats = try PrivateNATS()
        let relays = try Self.relays(nats)
        for relay in relays { try relay.start() }
        for _ in 0..<10 {
            let code = try relays[0].invite()
            let devices = try (0..<4).map { _ in try TestDevice() }
            let statuses = inParallel(4) { number in
                try relays[number % 2].client()
                    .request("POST", "/devices", body: devices[number].joining(code)).status
            }
            #expect(statuses.compactMap { $0 }.sorted() == [201, 403, 403, 403])
        }
        // A single server has no quorum, so there is no warning.
        #expect(try !relays[0].run("status").output.contains("warning"))
        #expect(try relays[1].run("devices", "list").output.split(separator: "\n").count >= 10)
        let device = try TestDevice()
        try device.join(relays[0])
        let first = try EventReader(relays[0], device)
        // A relay's stream state takes a moment to reach the other; until then either or both may
        // be the older one.
        var second = try EventReader(relays[1], device)
        let limit = ContinuousClock.now + .seconds(60)
        while !first.hasEnded(within: 0.5), ContinuousClock.now < limit {
            if second.hasEnded(within: 0) { second = try EventReader(relays[1], device) }
        }
        #expect(first.hasEnded(within: 0))
        if second.hasEnded(within: 0.5) { second = try EventReader(relays[1], device) }
        #expect(try relays[0].send(TestWebhook.deployment("evt_1")).status == 200)
        #expect(try relays[1].send(TestWebhook.deployment("evt_1")).status == 200)
        #expect(try relays[1].send(TestWebhook.deployment("evt_2")).status == 200)
        let lines = try second.wait(for: 2)
        #expect(try lines.map { try device.opened($0.data).id } == ["evt_1", "evt_2"])
        let start = ContinuousClock.now
        #expect(try relays[0].run("devices", "remove", device.id).status == 0)
        #expect(second.hasEnded())
        #expect(second.all.last?.event == "removed")
        #expect(ContinuousClock.now - start < .seconds(15))
        // The first relay also reads it from the register, after a moment.
        let end = start + .seconds(60)
        for relay in relays {
            func status() throws -> Int {
                try relay.client().request("GET", "/device", device.authorization).status
            }
            while try status() != 401, ContinuousClock.now < end { usleep(50_000) }
            #expect(try status() == 401)
        }
    }

    @Test func `The cluster's files hold no name, message, token, code or secret in plain text`()
        throws
    {
        let nats = try PrivateNATS()
        let relay = try Self.relays(nats)[0]
        try relay.start()
        let (device, late) = (try TestDevice(), try TestDevice())
        try device.join(relay)
        let used = try relay.invite()
        let joined = try relay.client().request("POST", "/devices", body: late.joining(used))
        #expect(joined.status == 201)
        let open = try relay.invite()
        let stream = try EventReader(relay, device)
        for number in 0..<20 {
            let body = TestWebhook.deployment(
                "evt_marker_\(number)", message: "marker-commit-message \(number)")
            #expect(try relay.send(body).status == 200)
        }
        let lines = try stream.wait(for: 20)
        #expect(
            try device.opened(lines[3].data).deployment?.commit == "marker-commit-message 3")
        let signs = [open, used].map { $0.replacingOccurrences(of: "-", with: "") }
        let markers =
            [
                "marker", "MARKER", "dpl_", "prj_", "evt_", "user_of_the_test", "production",
                device.token, RelayProcess.hook.secret, RelayProcess.hook.name, open, used,
            ] + signs
        _ = relay.stop()
        nats.kill(0)
        let files = FileManager.default.enumerator(atPath: nats.directory.path)
        var whole = Data()
        for case let name as String in files ?? .init() {
            let path = nats.directory.path(name)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            whole += try Data(contentsOf: URL(fileURLWithPath: path))
        }
        for marker in markers {
            #expect(
                whole.range(of: Data(marker.utf8)) == nil, "\(marker) is in the cluster's files")
        }
        // What routing needs is there, which shows that the test searches the right place.
        #expect(whole.count > 20 * 500)
        #expect(whole.range(of: Data("team_alpha".utf8)) != nil)
        #expect(whole.range(of: Data(device.id.utf8)) != nil)
    }
}
