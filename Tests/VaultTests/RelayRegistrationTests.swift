import Sealing
import Testing

@testable import Vault

@Suite("Registrations with relays")
struct RelayRegistrationTests {
    static func slice(_ bytes: [UInt8]) throws -> SecretSlice {
        try bytes.withBytes { try SecretArena(firstRegionByteCount: 4_096).copy($0) }
    }

    static func bytes(_ slice: SecretSlice) -> [UInt8] {
        slice.withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } }
    }

    static let token = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123_-4".utf8)

    static func sample(
        _ relay: String = "https://relay.example", joinedAt: UInt64 = 5,
        accounts: [String] = ["team_1", "user_1"]
    ) throws -> RelayRegistration {
        RelayRegistration(
            joinedAt: joinedAt, relay: relay, device: "device-0123456789", accounts: accounts,
            token: try slice(token), seed: try slice([UInt8](repeating: 0x5E, count: 32)))
    }

    @Test func `are read back as written`() throws {
        let made = try Self.sample()
        let read = try RelayRegistration(made.entry())
        #expect(read.id == made.id && read.joinedAt == 5 && read.relay == made.relay)
        #expect(read.device == made.device && read.accounts == made.accounts)
        #expect(Self.bytes(read.token) == Self.token)
        #expect(Self.bytes(read.seed) == Self.bytes(made.seed))
    }

    @Test func `are damage where anything is missing, left over or not a word`() throws {
        let entry = try Self.sample().entry()
        let good = Self.bytes(entry.payload)
        func read(_ payload: [UInt8]) throws -> RelayRegistration {
            try RelayRegistration(
                SecretJournalEntry(id: entry.id, createdAt: 5, payload: try Self.slice(payload)))
        }
        for length in good.indices {
            #expect(code { _ = try read(Array(good[..<length])) } == .damaged, "\(length)")
        }
        #expect(code { _ = try read(good + [0]) } == .damaged)
        // Every other accepted byte is written back as it was read.
        for place in good.indices {
            for change in [1, 0x80] as [UInt8] {
                var payload = good
                payload[place] ^= change
                guard let other = try? read(payload) else { continue }
                #expect(Self.bytes(try other.entry().payload) == payload, "\(place)")
            }
        }
        // A token that would end a header field, and a device name that would begin another path.
        var spaced = good
        spaced[good.count - 33] = 0x0D
        #expect(code { _ = try read(spaced) } == .damaged)
        #expect(code { _ = try RelayRegistration(Self.sample(accounts: []).entry()) } == .damaged)
        #expect(
            code { _ = try RelayRegistration(Self.sample(accounts: ["a/b"]).entry()) } == .damaged)
        let many = (0...64).map { "team_\($0)" }
        #expect(code { _ = try RelayRegistration(Self.sample(accounts: many).entry()) } == .damaged)
    }

    @Test func `are kept by other writes, by a copy and by new keys until removed`() throws {
        let fixture = try VaultFixture()
        let made = try Self.sample()
        func update(_ body: (inout VaultTransaction) throws -> Void) throws {
            try Vault.update(
                fixture.path, in: fixture.store, keys: fixture.keys,
                vaultID: fixture.vaultID, body)
        }
        func index() throws -> VaultIndex {
            try fixture.open().index(with: fixture.keys, extent: .everything)
        }
        func expectKept() throws {
            let kept = try index().relays()
            #expect(kept.map(\.id) == [made.id])
            #expect(kept.first.map { Self.bytes($0.seed) } == Self.bytes(made.seed))
            #expect(kept.first.map { Self.bytes($0.token) } == Self.token)
        }
        let sends = [SendEntryTests.sample(), SendEntryTests.sample()]
        try update { try $0.join(made) }
        try expectKept()
        // Journal entries are ordered by name, secret or not.
        try update { $0.begin(sends) }
        try expectKept()
        #expect(try index().sends().count == 2)
        try update { $0.end(sends.map(\.id)) }
        try expectKept()
        // It is not unfinished work.
        #expect(try index().otherOpenWorkCount == 0)
        // No description shows the secrets.
        #expect(!"\(made) \(try index())".contains("abcdefgh"))
        try update { $0.leave(made.id) }
        #expect(try index().relays().isEmpty)
    }

    @Test func `there are at most sixteen, each with another relay`() throws {
        let fixture = try VaultFixture()
        func update(_ body: (inout VaultTransaction) throws -> Void) throws {
            try Vault.update(
                fixture.path, in: fixture.store, keys: fixture.keys,
                vaultID: fixture.vaultID, body)
        }
        try update { transaction in
            for number in 0..<16 {
                try transaction.join(
                    Self.sample("https://r\(number).example", joinedAt: UInt64(16 - number)))
            }
        }
        let all = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(try all.relays().map(\.joinedAt) == Array(1...16))
        #expect(
            code { try update { try $0.join(Self.sample("https://more.example")) } } == .tooLarge)
        var twice = VaultIndex(extent: .everything)
        twice.secretJournal = [try Self.sample().entry(), try Self.sample().entry()]
        #expect(code { _ = try twice.relays() } == .damaged)
    }
}
