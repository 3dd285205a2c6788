import Foundation
import Postal
import Sealing
import TestSupport
import Testing

/// Several relays that write at the same moment, in a cluster of three servers. Servers before
/// 2.9.21 then accept more than one message with the same expected predecessor, so nothing may
/// depend on their refusal.
@Suite struct NATSRaceTests {
    private static let relays = 3

    private let servers: PrivateNATS

    init() throws { servers = try PrivateNATS(servers: 3) }

    /// Stores as several relays have them; the first opens once the cluster is ready.
    private static func stores(_ place: NATSPlace) throws -> [NATSStore] {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            do { return try (0..<relays).map { _ in try place.store() } } catch {
                guard ContinuousClock.now < end else { throw error }
                usleep(100_000)
            }
        }
    }

    /// Stores an event, retrying as Vercel does.
    private static func keep(_ event: AcceptedEvent, _ store: NATSStore) throws {
        for _ in 0..<20 {
            switch store.append([event]).first {
            case .kept, .duplicate: return
            default: usleep(20_000)
            }
        }
        throw CheckFailure("an event was not kept")
    }

    @Test func `Events of relays that write at the same moment all arrive once each, in order`()
        throws
    {
        let kept = 200
        var limits = StoreLimits()
        limits.eventsOfDevice = kept
        let place = NATSPlace(servers, limits)
        let stores = try Self.stores(place)
        defer { for store in stores { store.close() } }
        let device = try CheckedDevice()
        let joined = try device.join(stores[0], accounts: ["team_a", "team_b"])
        let count = Proof.count(short: 60, full: 600)
        // Every relay has its own events, and every third event reaches all relays.
        let readers = (0..<Self.relays).map { number in
            Reader(stores[number], joined, device, expected: count * 2 + count / 3)
        }
        let reading = DispatchSemaphore(value: 0)
        for reader in readers {
            Thread.detachNewThread {
                do { try reader.run(seconds: 120) } catch { Issue.record(error) }
                reading.signal()
            }
        }
        let written = Collected<Int>()
        _ = inParallel(Self.relays) { number in
            for turn in 0..<count {
                // A reader that is too late for an event misses it.
                let least = written.all.count - kept / 2
                let end = ContinuousClock.now + .seconds(60)
                while readers.contains(where: { $0.names.all.count < least }),
                    ContinuousClock.now < end
                { usleep(1_000) }
                let isShared = turn.isMultiple(of: 3)
                if !isShared || number == 0 || turn.isMultiple(of: 6) {
                    let name = isShared ? "shared_\(turn)" : "own_\(number)_\(turn)"
                    let account = turn.isMultiple(of: 5) ? "team_b" : "team_a"
                    try Self.keep(.checked(account, name), stores[number])
                    if !isShared || number == 0 { written.add(turn) }
                }
            }
        }
        for _ in readers { reading.wait() }
        let expected = Set(
            (0..<count).flatMap { turn in
                turn.isMultiple(of: 3)
                    ? ["shared_\(turn)"] : (0..<Self.relays).map { "own_\($0)_\(turn)" }
            })
        let had = readers.map(\.names.all)
        for names in had {
            #expect(Set(names) == expected)
            #expect(names.count == expected.count)
        }
        #expect(Set(had).count == 1)
        // A relay that has read nothing finds the same, and counts what is too much for one device.
        let late = try place.store()
        defer { late.close() }
        let rest = try late.everything(for: joined, after: joined.start)
        #expect(rest.copies.count == min(kept, expected.count))
        #expect(rest.missed.map(\.count) == [expected.count - kept].filter { $0 > 0 })
        let names = try rest.copies.map { try device.opened($0.sealed) }
        #expect(names == Array((had.first ?? []).suffix(kept)))
        for (one, other) in zip(rest.copies, rest.copies.dropFirst()) {
            #expect(one.number < other.number)
        }
    }

    /// Reads one device's events at one relay as they arrive.
    private final class Reader: Sendable {
        private let store: NATSStore
        private let joined: Device
        private let device: CheckedDevice
        private let expected: Int
        let names = Collected<String>()

        init(_ store: NATSStore, _ joined: Device, _ device: CheckedDevice, expected: Int) {
            (self.store, self.joined, self.device) = (store, joined, device)
            self.expected = expected
        }

        func run(seconds: Int) throws {
            var cursor = joined.start
            let end = ContinuousClock.now + .seconds(seconds)
            while names.all.count < expected, ContinuousClock.now < end {
                let request = ReadRequest(device: joined, after: cursor, byteLimit: 2_000)
                guard let part = try? store.read([request]).first else { continue }
                guard part.missed == nil else { throw CheckFailure("missed \(part.through)") }
                for copy in part.copies { names.add(try device.opened(copy.sealed)) }
                cursor = part.through
                usleep(1_000)
            }
        }
    }

    @Test func `An invite that several relays accept at the same moment admits one device`() throws
    {
        let place = NATSPlace(servers)
        let stores = try Self.stores(place)
        defer { for store in stores { store.close() } }
        for round in 0..<Proof.count(short: 15, full: 200) {
            let digest = Random.bytes(32)
            try stores[0].add(Invite(digest: digest, accounts: ["team_a"], expiresAt: 900_000))
            let devices = try (0..<Self.relays).map { _ in try CheckedDevice() }
            let joined = inParallel(Self.relays) { number -> String? in
                let device = devices[number]
                return try stores[number].redeem(
                    inviteDigest: digest, id: device.token.deviceID,
                    tokenDigest: device.token.digest, publicKey: device.publicKey, now: 1_000)?.id
            }.compactMap { $0 ?? nil }
            #expect(joined.count == 1, "round \(round)")
            #expect(try stores[1].devices().count == round + 1)
        }
    }

    @Test func `A device that joins while relays write gets every event after its number`() throws {
        var limits = StoreLimits()
        limits.eventsOfDevice = 100_000
        let place = NATSPlace(servers, limits)
        let stores = try Self.stores(place)
        defer { for store in stores { store.close() } }
        let count = Proof.count(short: 8, full: 60)
        let kept = Collected<(number: Int64, name: String)>()
        let isOver = Collected<Bool>()
        let writers = (0..<Self.relays).map { number in
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                var turn = 0
                while isOver.all.isEmpty {
                    let name = "event_\(number)_\(turn)"
                    turn += 1
                    if case .kept(let sequence)? = stores[number]
                        .append([.checked("team_a", name)]).first
                    {
                        kept.add((sequence, name))
                    }
                }
                done.signal()
            }
            return done
        }
        var joined: [(device: CheckedDevice, entry: Device)] = []
        for number in 0..<count {
            let device = try CheckedDevice()
            joined.append(
                (device, try device.join(stores[number % Self.relays], accounts: ["team_a"])))
        }
        isOver.add(true)
        for writer in writers { writer.wait() }
        #expect(kept.all.count > count)
        for (device, entry) in joined {
            let had = try stores[1].everything(for: entry, after: entry.start)
            #expect(had.missed.isEmpty)
            // There may be others that a relay could not confirm as stored.
            let copies = Dictionary(uniqueKeysWithValues: had.copies.map { ($0.number, $0.sealed) })
            for event in kept.all where event.number > entry.start {
                let sealed = try #require(copies[event.number], "\(event) is missing")
                #expect(try device.opened(sealed) == event.name)
            }
        }
    }
}
