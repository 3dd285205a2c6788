import Foundation
import Glibc
import PostalProtocol
import TestSupport
import Testing

/// The relay is killed at any moment. Every event answered with 200 still reaches every device.
@Suite struct RelayKillTests {
    @Test func `Every acknowledged event reaches every device, however often the relay is killed`()
        throws
    {
        var random = ProofRandom(12)
        let relay = try RelayProcess()
        try relay.start()
        let devices = try (0..<3).map { _ in try TestDevice() }
        for device in devices { try device.join(relay) }
        var (answered, had) = (Set<String>(), devices.map { _ in Set<String>() })
        var cursors = devices.map { $0.start }
        for round in 0..<Proof.count(short: 15, full: 1_000) {
            let streams = try zip(devices, cursors).map { try EventReader(relay, $0, after: $1) }
            // First the missed events, then load until the kill.
            try waitForAll(answered, streams, devices, had, "\(random.seedText), round \(round)")
            let answers = Collected<String>()
            let port = relay.port
            let senders = (0..<3).map { thread in
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    if let client = try? RelayClient(port: port) {
                        for number in 0..<1_000 {
                            let id = "evt_\(round)_\(thread)_\(number)"
                            let answer = try? client.send(
                                TestWebhook.deployment(id), to: RelayProcess.hook)
                            guard answer?.status == 200 else { break }
                            answers.add(id)
                        }
                    }
                    done.signal()
                }
                return done
            }
            // During work, however busy the machine.
            let wanted = Int.random(in: 1...12, using: &random)
            let end = ContinuousClock.now + .seconds(2)
            while answers.all.count < wanted, ContinuousClock.now < end { usleep(200) }
            usleep(UInt32.random(in: 0...4_000, using: &random))
            relay.kill()
            for sender in senders { sender.wait() }
            for (place, stream) in streams.enumerated() {
                #expect(stream.hasEnded())
                let ids = stream.all.compactMap(\.id)
                #expect(ids == ids.sorted() && (ids.first ?? .max) > cursors[place])
                had[place].formUnion(try stream.all.map { try devices[place].opened($0.data).id })
                cursors[place] = ids.last ?? cursors[place]
            }
            answered.formUnion(answers.all)
            try relay.start()
        }
        let streams = try zip(devices, cursors).map { try EventReader(relay, $0, after: $1) }
        try waitForAll(answered, streams, devices, had, random.seedText)
        #expect(answered.count > 15)
        print("relay: \(answered.count) events, none of them lost, \(random.seedText)")
    }

    private func waitForAll(
        _ answered: Set<String>, _ streams: [EventReader], _ devices: [TestDevice],
        _ had: [Set<String>], _ what: String
    ) throws {
        for (place, stream) in streams.enumerated() {
            var missing = answered.subtracting(had[place])
            var seen = 0
            let end = ContinuousClock.now + .seconds(60)
            while !missing.isEmpty {
                let lines = stream.all
                for line in lines[seen...] {
                    missing.remove(try devices[place].opened(line.data).id)
                }
                seen = lines.count
                guard ContinuousClock.now < end else {
                    throw CheckFailure("\(what): \(missing.count) events did not reach a device")
                }
                if !missing.isEmpty { usleep(1_000) }
            }
        }
    }
}
