import Foundation
import JSON
import PostalProtocol
import Sealing
import TestSupport
import Testing

@testable import Postal

/// What a relay reads from its streams, whatever their author.
@Suite struct StreamBytesTests {
    private static let account = "team_a"

    /// Messages as relays write them, to be varied.
    private static func seeds() -> [[UInt8]] {
        let names = (0..<3).map { RecipientName(device: "device_\($0)") }.sorted()
        let table = CopyTable(names.map { (name: $0, sealed: Random.bytes(40)) }[...])
        let contents: [LogEntry.Content] = [
            .mark, .copies(table), .copies(CopyTable([])),
            .parts(
                names.enumerated().map { .init(number: Int64($0.offset + 1), first: $0.element) }),
        ]
        let entries = contents.map { content in
            LogEntry(
                epoch: 3, ordinal: 2, previous: 7, lastEvent: 7, register: 5, time: 1_000,
                content: content
            ).bytes
        }
        var device = DeviceRecord(phase: .active)
        (device.tokenDigest, device.publicKey) = (Random.bytes(32), Random.bytes(32))
        (device.accounts, device.start) = ([account], 4)
        device.places = [account: .init(epoch: 3, ordinal: 1)]
        var invite = InviteRecord(accounts: [account], expiresAt: 900_000)
        let open = invite.bytes
        invite.claim = .init(device: "0123456789abcdef01234567", publicKey: Random.bytes(32), at: 5)
        let had = AcknowledgementRecord(number: 9, places: device.places)
        return entries + [table.bytes, device.bytes, open, invite.bytes, had.bytes]
    }

    /// A message with changed bytes, numbers or ends.
    private static func changed(_ seed: [UInt8], _ random: inout ProofRandom) -> [UInt8] {
        var bytes = seed
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.removeLast(Int.random(in: 0...min(20, bytes.count), using: &random))
            case 3: bytes += (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }
            case 4:
                // A number where one may be.
                let start = 2 + 8 * Int.random(in: 0..<8, using: &random)
                let numbers: [Int64] = [0, 1, .max, 1 << 53, 1 << 53 + 1, 65_536, -1, .min]
                let number = UInt64(
                    bitPattern: numbers.randomElement(using: &random) ?? 0)
                for offset in 0..<8 where start + offset < bytes.count {
                    bytes[start + offset] = UInt8(truncatingIfNeeded: number >> (56 - 8 * offset))
                }
            default:
                // A longer number within JSON.
                if (0x30...0x39).contains(bytes[place]) {
                    bytes.insert(contentsOf: Array("99999999999999999".utf8), at: place)
                }
            }
        }
        return bytes
    }

    @Test func `Any bytes in a stream are read correctly or not at all`() throws {
        var random = ProofRandom(71)
        let cache = LogCache(byteLimit: 40_000, keptMilliseconds: 60_000) { 0 }
        let names = NATSNames(prefix: "zg_test")
        let register = RegisterCache(names)
        let seeds = Self.seeds()
        let device = RecipientName(device: "device_1")
        var entries = 0
        for turn in 1...Proof.count(short: 20_000, full: 1_000_000) {
            let seed = seeds[turn % seeds.count]
            let bytes = turn <= seeds.count ? seed : Self.changed(seed, &random)
            if let table = CopyTable(bytes) {
                _ = table.copy(for: device)
                cache.add(table, sequence: Int64(turn))
            }
            if let entry = LogEntry(bytes) {
                entries += 1
                try #require(entry.bytes == bytes)
                // The consequences of an entry: what comes next, and its position.
                let tip = LogTip(entry, sequence: Int64(turn))
                _ = tip.next(entry.content, at: .max, register: .max).ordinalBefore
                cache.take(entry, sequence: Int64(turn), of: Self.account)
                if case .copies(let table) = entry.content { _ = table.copy(for: device) }
                _ = cache.next(of: Self.account, after: entry.previous)
                _ = cache.entry(entry.lastEvent, of: Self.account)
            }
            for subject in [
                names.device("device_1"), names.acknowledgement("device_1"), "zg_test.r.i.aa", "",
            ] {
                _ = register.take(
                    .init(
                        subject: subject, sequence: Int64(turn), time: 0, data: bytes,
                        hasMore: false))
            }
            _ = register.active().map { $0.acknowledged + 1 }
            _ = register.recipients(of: Self.account)
        }
        #expect(entries > 1_000)
    }

    @Test(arguments: [
        (#"{"api":{"total":3,"errors":0}}"#, 0), (#"{"api":{"level":1,"total":3}}"#, 1),
        (#"{"api":{"level":2}}"#, 2), (#"{"api":{"level":"2"}}"#, 0), ("{}", 0),
    ])
    func `A server's features are those it reports, and unknown if it reports none`(
        _ text: String, _ level: Int64
    ) throws {
        let answer = try #require(try? JSONValue(parsing: Array(text.utf8)))
        #expect(JetStream.level(answer) == level)
    }

    /// As after the register was restored from an older copy: waiting would not bring that number.
    @Test func `An entry beyond the register's end blocks nobody`() throws {
        let servers = try PrivateNATS()
        let place = NATSPlace(servers)
        let store = try place.store()
        defer { store.close() }
        let device = try CheckedDevice().join(store, accounts: [Self.account])
        let first = try store.keep(.checked(Self.account, "evt_1"))
        let ahead = try store.freshTip(of: Self.account)
            .next(.mark, at: 1_000, register: 1 << 50)
        _ = try PlainNATSClient(port: servers.ports[0])
            .request("\(place.name).e.\(Self.account)", ahead.bytes)
        let start = ContinuousClock.now
        let second = try store.keep(.checked(Self.account, "evt_2"))
        let third = try store.keep(.checked(Self.account, "evt_3"))
        #expect(ContinuousClock.now - start < .seconds(7))
        // That position now has a number that the register has.
        #expect(try store.freshTip(of: Self.account).register < 1_000)
        let had = try store.everything(for: device, after: device.start)
        #expect(had.copies.map(\.number) == [first, second, third])
    }

    @Test func `Foreign messages end no relay, and harm no other account`() throws {
        let servers = try PrivateNATS()
        let place = NATSPlace(servers)
        let store = try place.store()
        defer { store.close() }
        let (device, other) = (try CheckedDevice(), try CheckedDevice())
        let joined = try device.join(store, accounts: [Self.account])
        let safe = try other.join(store, accounts: ["team_b"])
        let client = try PlainNATSClient(port: servers.ports[0])
        var random = ProofRandom(72)
        let seeds = Self.seeds()
        var kept: [Int64] = []
        for turn in 0..<Proof.count(short: 120, full: 5_000) {
            let bytes = Self.changed(seeds[turn % seeds.count], &random)
            // The device's own name stays, so that there is a reader.
            let kinds = [
                "e.\(Self.account)", "c.\(Self.account)", "r.d.a", "r.i.a", "r.a.\(joined.id)",
            ]
            let kind = kinds.randomElement(using: &random) ?? ""
            _ = try client.request("\(place.name).\(kind)", bytes)
            _ = store.append([.checked(Self.account, "evt_\(turn)")])
            let request = ReadRequest(device: joined, after: joined.start, byteLimit: 1_000)
            _ = try? store.read([request])
            if turn.isMultiple(of: 10) {
                kept.append(try store.keep(.checked("team_b", "safe_\(turn)")))
                _ = try? store.status()
                try? store.prune(now: Int64(turn) * 1_000_000_000)
            }
        }
        let had = try store.everything(for: safe, after: safe.start)
        #expect(had.copies.map(\.number) == kept)
    }
}
