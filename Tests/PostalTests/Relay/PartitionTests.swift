import Foundation
import TestSupport
import Testing

/// A server that is cut off from the other two, with a relay that knows only this one.
@Suite(.serialized) struct PartitionTests {
    /// The server's role.
    enum Role: CaseIterable, Sendable {
        /// The others reach agreement without it.
        case leadsNothing
        /// It has messages under way that the others have not agreed to, and no longer can.
        case leadsEvents
    }

    /// Responses to webhooks, with the times of request and response.
    private struct Sent: Sendable {
        let id: String
        let status: Int
        let beganAt: ContinuousClock.Instant
        let endedAt: ContinuousClock.Instant
    }

    @Test(arguments: Proof.isFull ? Role.allCases : [.leadsEvents])
    func `A relay that is cut off accepts nothing, and later every acknowledged event arrives`(
        _ role: Role
    ) throws {
        var random = ProofRandom(33)
        let nats = try PrivateNATS(servers: 3, separable: true)
        let relays = try (0..<3).map { try RelayProcess(store: ["--nats", nats.addresses[$0]]) }
        for relay in relays { try relay.startWhenPossible() }
        try relays[0].waitForCopies()
        let info = try PlainNATSClient(port: nats.ports[0]).request("$JS.API.INFO", "")
        let isWarned = try relays[0].run("status").output.contains("warning: These NATS servers")
        #expect(isWarned != info.contains("\"level\""), "\(info)")
        let devices = try (0..<2).map { _ in try TestDevice() }
        for device in devices { try device.joinWhenPossible(relays[0]) }
        let readers = devices.map(ClusterReader.init)
        let report = ClusterReport(nats: nats, relays: relays, readers: readers)
        var answered = Set<String>()
        // A server before 2.11 that was cut off once may lead with other events or under other
        // numbers (NATSStreams.warning()).
        for round in 0..<(isWarned ? 1 : Proof.count(short: 1, full: 20)) {
            let what = "\(random.seedText), \(role), round \(round)"
            let alone = try Self.server(role, nats, &random)
            let (sent, isOver) = (Collected<Sent>(), Collected<Bool>())
            let senders = (0..<3).map { number in
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    Self.send("evt_\(round)_\(number)", relays[number], sent, isOver)
                    done.signal()
                }
                return done
            }
            func wait(_ what: String, _ isReached: () throws -> Bool) throws {
                let end = ContinuousClock.now + .seconds(60)
                while try !isReached() {
                    for reader in readers { try reader.poll(relays) }
                    guard ContinuousClock.now < end else {
                        throw CheckFailure(
                            [what, Self.text(of: sent), report.text(of: [])]
                                .joined(separator: "\n"))
                    }
                    usleep(5_000)
                }
            }
            func shouldContinue(_ number: Int, since: ContinuousClock.Instant) -> Bool {
                sent.all.contains {
                    $0.id.hasPrefix("evt_\(round)_\(number)_") && $0.status == 200
                        && $0.beganAt > since
                }
            }
            let others = (0..<3).filter { $0 != alone }
            let beganAt = ContinuousClock.now
            try wait("\(what): nothing is taken") {
                (0..<3).allSatisfy { shouldContinue($0, since: beganAt) }
            }
            nats.separate(alone)
            // Earlier responses of the other servers are still on their way to the relay.
            let cutAt = ContinuousClock.now + .milliseconds(100)
            try wait("\(what): the two others do not go on") {
                others.allSatisfy { shouldContinue($0, since: cutAt + .seconds(5)) }
            }
            #expect(try relays[alone].client().request("GET", "/healthz").status == 503, "\(what)")
            let openedAt = ContinuousClock.now
            nats.unite()
            let meanwhile = sent.all.filter {
                $0.id.hasPrefix("evt_\(round)_\(alone)_") && $0.beganAt > cutAt
                    && $0.endedAt < openedAt
            }
            #expect(!meanwhile.isEmpty, "\(what)")
            #expect(meanwhile.allSatisfy { $0.status == 503 }, "\(what)")
            try wait("\(what): the one that was cut off does not come back") {
                (0..<3).allSatisfy { shouldContinue($0, since: openedAt) }
            }
            isOver.add(true)
            for sender in senders { sender.wait() }
            answered.formUnion(sent.all.filter { $0.status == 200 }.map(\.id))
            try ClusterReader.wait(readers, for: answered, relays, what, report: report)
            try relays[0].waitForCopies()
        }
        #expect(answered.count > 20)
    }

    /// Each relay's last responses.
    private static func text(of sent: Collected<Sent>) -> String {
        let all = sent.all
        return (0..<3).map { number in
            let own = all.filter { $0.id.split(separator: "_")[2] == "\(number)" }.suffix(12)
            let now = ContinuousClock.now
            return "responses of relay \(number): "
                + own.map { "\($0.id) \($0.status) \(now - $0.endedAt) ago" }
                .joined(separator: ", ")
        }.joined(separator: "\n")
    }

    /// One of the servers in a role.
    private static func server(
        _ role: Role, _ nats: PrivateNATS, _ random: inout ProofRandom
    ) throws -> Int {
        let client = try PlainNATSClient(port: nats.ports[0])
        let leaders = try ["zg_env_postal_events", "zg_env_postal_register"].map(client.leader)
        switch role {
        case .leadsEvents: return leaders[0]
        case .leadsNothing:
            return (0..<3).filter { !leaders.contains($0) }.randomElement(using: &random) ?? 0
        }
    }

    /// Sends events until stopped, each until it is answered with 200, as Vercel does.
    private static func send(
        _ name: String, _ relay: RelayProcess, _ sent: Collected<Sent>, _ isOver: Collected<Bool>
    ) {
        var number = 0
        while isOver.all.isEmpty {
            let id = "\(name)_\(number)"
            let body = TestWebhook.deployment(id)
            while isOver.all.isEmpty {
                let beganAt = ContinuousClock.now
                let status = (try? relay.send(body))?.status ?? 0
                sent.add(Sent(id: id, status: status, beganAt: beganAt, endedAt: .now))
                if status == 200 { break }
                usleep(20_000)
            }
            number += 1
            // A device may be without a relay for a while, and at most 1,000 events wait for it.
            usleep(100_000)
        }
    }
}
