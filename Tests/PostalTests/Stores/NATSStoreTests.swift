import Foundation
import Sealing
import TestSupport
import Testing

@testable import Postal

/// A name of its own on a server that all checks of this process share.
struct NATSPlace: StorePlace {
    let servers: PrivateNATS
    let limits: StoreLimits
    let name: String

    var prunesByGivenTime: Bool { false }
    var servesSeveralRelays: Bool { true }

    init(_ servers: PrivateNATS, _ limits: StoreLimits = StoreLimits()) {
        (self.servers, self.limits) = (servers, limits)
        name = "check_" + String(UInt64.random(in: 0 ... .max), radix: 36)
    }

    func open(serving: Bool) throws -> any PostalStore { try store() }

    /// - Parameter patience: Generous, since other tests run at the same time.
    func store(patience: Int64 = 20_000) throws -> NATSStore {
        var settings = NATSSettings(servers: servers.addresses)
        settings.name = name
        settings.patience = patience
        return try NATSStore(settings, limits: limits, steady: TestClock.steady)
    }
}

enum TestClock {
    static let steady: @Sendable () -> Int64 = {
        Int64(clock_gettime_nsec_np_steady() / 1_000_000)
    }

    private static func clock_gettime_nsec_np_steady() -> UInt64 {
        DispatchTime.now().uptimeNanoseconds
    }
}

@Suite struct NATSStoreTests {
    private static let server = Result { try PrivateNATS() }

    @Test(arguments: StoreCheck.allCases)
    func `It passes every store check`(_ check: StoreCheck) throws {
        try check.run(NATSPlace(Self.server.get(), check.limits))
    }

    @Test func `Expired events are reported by number, also when all are gone`() throws {
        var limits = StoreLimits()
        // With two seconds of slack for a busy machine.
        limits.keptMilliseconds = 4_000
        let store = try NATSPlace(Self.server.get(), limits).store()
        defer { store.close() }
        let device = try CheckedDevice()
        let joined = try device.join(store, accounts: ["team_a", "team_b"])
        let old = try (0..<30).map {
            try store.keep(.checked($0 % 3 == 0 ? "team_a" : "team_b", "old_\($0)"))
        }
        try store.acknowledge([joined.id: old[9]])
        usleep(2_500_000)
        let new = try (0..<3).map { try store.keep(.checked("team_a", "new_\($0)")) }
        sleep(2)
        let had = try store.everything(for: joined, after: old[9])
        #expect(had.missed == [.init(count: 20, through: old[29])])
        #expect(had.copies.map(\.number) == new)
        // From an unrecorded position, the count is unknown.
        let other = try store.everything(for: joined, after: old[4])
        #expect(other.missed == [.init(count: 0, through: old[29])])
        #expect(other.copies.map(\.number) == new)
        sleep(3)
        let last = try store.everything(for: joined, after: old[9])
        #expect(last.copies.isEmpty)
        #expect(last.missed.map(\.through) == [new[2]])
        let newest = try store.keep(.checked("team_a", "evt_last"))
        #expect(newest > new[2])
        let rest = try store.everything(for: joined, after: old[9])
        #expect(rest.copies.map(\.number) == [newest])
    }

    /// As after restoring an older copy while relays run: events under old numbers would not be
    /// read.
    @Test func `A register whose numbers went back is refused until the relay restarts`() throws {
        let server = try PrivateNATS()
        let place = NATSPlace(server)
        let store = try place.store()
        defer { store.close() }
        for _ in 0..<3 { _ = try CheckedDevice().join(store, accounts: ["team_a"]) }
        let client = try PlainNATSClient(port: server.ports[0])
        _ = try client.request("$JS.API.STREAM.DELETE.\(store.names.register)", [])
        let restarted = try place.store()
        defer { restarted.close() }
        #expect {
            try store.status()
        } throws: {
            "\($0)".contains("restored from an older copy")
        }
        #expect(try restarted.status().devices == 0)
    }

    @Test func `An account that was silent for long continues counting`() throws {
        var limits = StoreLimits()
        limits.keptMilliseconds = 1_500
        let store = try NATSPlace(Self.server.get(), limits).store()
        defer { store.close() }
        let device = try CheckedDevice()
        let joined = try device.join(store, accounts: ["team_a"], now: 1_000)
        let old = try (0..<7).map { try store.keep(.checked("team_a", "old_\($0)")) }
        // With a clock far ahead, so that each turn writes a mark.
        for turn in 1...6 {
            usleep(500_000)
            try store.prune(now: Int64(turn) * 10_000)
        }
        let had = try store.everything(for: joined, after: joined.start)
        #expect(had.missed == [.init(count: 7, through: old[6])])
        #expect(had.copies.isEmpty)
    }

    @Test func `An event for more devices than fit into a message reaches all or none`() throws {
        let place = NATSPlace(try Self.server.get())
        let store = try place.store()
        defer { store.close() }
        let other = try place.store()
        defer { other.close() }
        let devices = try (0..<40).map { _ in try CheckedDevice() }
        let joined = try devices.map { try $0.join(store, accounts: ["team_a"]) }
        let text = String(repeating: "x", count: 40_000)
        let number = try store.keep(.checked("team_a", "evt_1", text: text))
        for (device, entry) in zip(devices, joined) {
            let had = try other.everything(for: entry, after: entry.start, byteLimit: 1)
            #expect(had.copies.map(\.number) == [number])
            let copy = try #require(had.copies.first)
            #expect(try device.opened(copy.sealed) == text)
        }
    }

    @Test func `An invite whose relay stopped halfway is neither lost nor used twice`() throws {
        let place = NATSPlace(try Self.server.get())
        let store = try place.store()
        defer { store.close() }
        for step in 0..<3 {
            let digest = Random.bytes(32)
            try store.add(Invite(digest: digest, accounts: ["team_a"], expiresAt: 900_000))
            let (gone, same, late) = (
                try CheckedDevice(), try CheckedDevice(), try CheckedDevice()
            )
            func redeem(_ device: CheckedDevice, key: [UInt8], at now: Int64) throws -> Device? {
                try store.redeem(
                    inviteDigest: digest, id: device.token.deviceID,
                    tokenDigest: device.token.digest, publicKey: key, now: now)
            }
            // A relay that ended after the claim, after the name, and after the device.
            var joining = NATSJoining(
                store, inviteDigest: digest, id: gone.token.deviceID,
                tokenDigest: gone.token.digest, publicKey: gone.publicKey, now: 1_000)
            #expect(try joining.claim())
            if step > 0 { #expect(try joining.keepPending()) }
            if step > 1 { #expect(try joining.activate()) }
            #expect(try redeem(late, key: late.publicKey, at: 2_000) == nil)
            if step < 2 {
                let device = try redeem(late, key: late.publicKey, at: 31_001)
                #expect(device?.id == late.token.deviceID)
                #expect(try redeem(same, key: gone.publicKey, at: 31_002) == nil)
            } else {
                // It is a device already: only the same key gets another name for it.
                #expect(try redeem(late, key: late.publicKey, at: 31_001) == nil)
                let device = try redeem(same, key: gone.publicKey, at: 31_002)
                #expect(device?.id == same.token.deviceID)
            }
            // The one that was only slow cannot continue.
            if step == 0 { #expect(try !joining.keepPending()) }
            if step == 1 { #expect(try !joining.activate()) }
            #expect(try store.device(id: gone.token.deviceID) == nil)
            #expect(try store.devices().count == step + 1)
        }
    }

    @Test func `Servers whose process has ended leave nothing behind`() throws {
        let servers = try PrivateNATS(servers: 3)
        let path = servers.directory.path
        // Those that only fail keep their data.
        servers.kill(0)
        #expect(FileManager.default.fileExists(atPath: path + "/node0"))
        servers.lose()
        let end = ContinuousClock.now + .seconds(60)
        while FileManager.default.fileExists(atPath: path), ContinuousClock.now < end {
            usleep(20_000)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `Unreachable servers are reported at once`() throws {
        let server = try PrivateNATS()
        let place = NATSPlace(server)
        let store = try place.store(patience: 4_000)
        defer { store.close() }
        let device = try CheckedDevice()
        let joined = try device.join(store, accounts: ["team_a"])
        let number = try store.keep(.checked("team_a", "evt_1"))
        server.kill(0)
        let start = ContinuousClock.now
        guard case .failed(let error)? = store.append([.checked("team_a", "evt_2")]).first else {
            throw CheckFailure("an event was kept by nobody")
        }
        #expect(error.code == .unavailable)
        #expect(throws: StoreError.self) { try store.check() }
        #expect(throws: StoreError.self) { try store.newest() }
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(throws: StoreError.self) { try place.store() }
        try server.start(0)
        let end = ContinuousClock.now + .seconds(60)
        while (try? store.check()) == nil {
            guard ContinuousClock.now < end else { throw CheckFailure("it does not come back") }
            usleep(20_000)
        }
        // A failed write may have been stored; after the retry it is there exactly once.
        let again = store.append([.checked("team_a", "evt_2")])
        guard let outcome = again.first, outcome == .duplicate || again.first?.isKept == true else {
            throw CheckFailure("it takes nothing: \(again)")
        }
        let all = try store.everything(for: joined, after: joined.start).copies
        #expect(all.count == 2 && all[0].number == number)
        #expect(try all.map { try device.opened($0.sealed) } == ["evt_1", "evt_2"])
    }
}

extension AppendOutcome {
    var isKept: Bool { if case .kept = self { true } else { false } }
}
