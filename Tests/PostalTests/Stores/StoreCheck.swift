import Foundation
import Postal
import Sealing
import Testing

/// The requirements for any store. `run` takes a fresh place, and throws or records an issue on a
/// failure.
enum StoreCheck: String, CaseIterable, Sendable {
    case anInviteIsUsedOnce
    case anInviteIsUsedOnceByManyAtATime
    case aDeviceIsFoundAndRemoved
    case numbersGrowAndDuplicatesAreKnown
    case aDeviceGetsItsAccountsAlone
    case aDeviceGetsNothingOfBeforeItJoined
    case deviceJoiningBesideEventsGetsAllAfterItsNumber
    case readingIsBounded
    case accountsOfADeviceComeInOneOrder
    case tooManyAreMissed
    case tooOldAreMissed
    case whatWasHadIsKept
    case everythingStaysWhenReopened
    case othersAreToldOfChanges
    case manyWriteAtATime

    /// The limits of the place.
    var limits: StoreLimits {
        var limits = StoreLimits()
        if self == .tooManyAreMissed { limits.eventsOfDevice = 10 }
        return limits
    }

    func run(_ place: any StorePlace) throws {
        switch self {
        case .anInviteIsUsedOnce: try Self.inviteOnce(place)
        case .anInviteIsUsedOnceByManyAtATime: try Self.inviteOnceByMany(place)
        case .aDeviceIsFoundAndRemoved: try Self.deviceFoundAndRemoved(place)
        case .numbersGrowAndDuplicatesAreKnown: try Self.numbersAndDuplicates(place)
        case .aDeviceGetsItsAccountsAlone: try Self.ownAccountsAlone(place)
        case .aDeviceGetsNothingOfBeforeItJoined: try Self.nothingBefore(place)
        case .deviceJoiningBesideEventsGetsAllAfterItsNumber: try Self.joiningBesideEvents(place)
        case .readingIsBounded: try Self.boundedReading(place)
        case .accountsOfADeviceComeInOneOrder: try Self.oneOrder(place)
        case .tooManyAreMissed: try Self.tooMany(place)
        case .tooOldAreMissed: try Self.tooOld(place)
        case .whatWasHadIsKept: try Self.acknowledged(place)
        case .everythingStaysWhenReopened: try Self.reopened(place)
        case .othersAreToldOfChanges: try Self.toldOfChanges(place)
        case .manyWriteAtATime: try Self.manyWriters(place)
        }
    }

    private static func inviteOnce(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let (digest, late) = (Random.bytes(32), Random.bytes(32))
        try store.add(Invite(digest: digest, accounts: ["team_a", "team_b"], expiresAt: 2_000))
        try store.add(Invite(digest: late, accounts: ["team_a"], expiresAt: 2_000))
        func redeem(_ digest: [UInt8], at now: Int64) throws -> Device? {
            let device = try CheckedDevice()
            return try store.redeem(
                inviteDigest: digest, id: device.token.deviceID, tokenDigest: device.token.digest,
                publicKey: device.publicKey, now: now)
        }
        #expect(try redeem(Random.bytes(32), at: 1_000) == nil)
        #expect(try store.status().invites == 2)
        let device = try #require(try redeem(digest, at: 1_999))
        #expect(Set(device.accounts) == ["team_a", "team_b"])
        #expect(device.joinedAt == 1_999)
        #expect(try redeem(digest, at: 1_999) == nil)
        #expect(try redeem(late, at: 2_000) == nil)
        #expect(try store.devices().count == 1)
    }

    private static func inviteOnceByMany(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let other = try place.open(serving: false)
        defer { other.close() }
        let digests = (0..<4).map { _ in Random.bytes(32) }
        for digest in digests {
            try store.add(Invite(digest: digest, accounts: ["team_a"], expiresAt: 60_000))
        }
        let devices = try (0..<16).map { _ in try CheckedDevice() }
        let joined = inParallel(16) { number in
            try (number % 2 == 0 ? store : other).redeem(
                inviteDigest: digests[number % 4], id: devices[number].token.deviceID,
                tokenDigest: devices[number].token.digest, publicKey: devices[number].publicKey,
                now: 1_000) != nil
        }
        for number in 0..<4 {
            let winners = stride(from: number, to: 16, by: 4).filter { joined[$0] == true }
            #expect(winners.count == 1)
        }
        #expect(try store.devices().count == 4)
    }

    private static func deviceFoundAndRemoved(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let (one, two) = (try CheckedDevice(), try CheckedDevice())
        let first = try one.join(store, accounts: ["team_a"], now: 1_000)
        let second = try two.join(store, accounts: ["team_a"], now: 2_000)
        #expect(try store.device(id: first.id) == first)
        #expect(one.token.belongs(to: first))
        #expect(!one.token.belongs(to: second))
        #expect(try store.devices() == [first, second])
        let number = try store.keep(.checked("team_a", "evt_1"))
        #expect(try store.removeDevice(id: first.id))
        #expect(try store.device(id: first.id) == nil)
        #expect(try !store.removeDevice(id: first.id))
        #expect(try store.devices() == [second])
        #expect(try store.everything(for: first, after: 0).copies.isEmpty)
        #expect(try store.everything(for: second, after: 0).copies.map(\.number) == [number])
        try store.acknowledge([first.id: number])
        #expect(try store.device(id: first.id) == nil)
    }

    private static func numbersAndDuplicates(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let device = try CheckedDevice()
        let joined = try device.join(store, accounts: ["team_a"])
        let first = try store.keep(.checked("team_a", "evt_1"))
        #expect(first > joined.start)
        #expect(store.append([.checked("team_a", "evt_1", text: "other")]) == [.duplicate])
        // The same id of another account is another event.
        let outcomes = store.append([
            .checked("team_a", "evt_2"), .checked("team_b", "evt_1"), .checked("team_a", "evt_2"),
        ])
        guard case .kept(let second) = outcomes[0], case .kept(let third) = outcomes[1] else {
            throw CheckFailure("new events were not kept")
        }
        #expect(outcomes[2] == .duplicate)
        // Numbers of one account grow; the order of two accounts in one batch is undefined.
        #expect(first < second && first < third && second != third)
        #expect(try store.newest() == max(second, third))
        let texts = try store.everything(for: joined, after: joined.start).copies
            .map { try device.opened($0.sealed) }
        #expect(texts == ["evt_1", "evt_2"])
    }

    private static func ownAccountsAlone(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let (one, two) = (try CheckedDevice(), try CheckedDevice())
        let first = try one.join(store, accounts: ["team_a"])
        let second = try two.join(store, accounts: ["team_b"])
        for number in 0..<4 {
            _ = try store.keep(.checked(number % 2 == 0 ? "team_a" : "team_b", "evt_\(number)"))
        }
        let mine = try store.everything(for: first, after: first.start).copies
        #expect(try mine.map { try one.opened($0.sealed) } == ["evt_0", "evt_2"])
        let theirs = try store.everything(for: second, after: second.start).copies
        #expect(try theirs.map { try two.opened($0.sealed) } == ["evt_1", "evt_3"])
        #expect(throws: (any Error).self) { try one.opened(theirs[0].sealed) }
    }

    private static func nothingBefore(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let early = try CheckedDevice()
        _ = try early.join(store, accounts: ["team_a"])
        let before = try store.keep(.checked("team_a", "evt_1"))
        let late = try CheckedDevice()
        let device = try late.join(store, accounts: ["team_a"])
        #expect(device.start == before)
        #expect(device.acknowledged == before)
        let after = try store.keep(.checked("team_a", "evt_2"))
        let all = try store.everything(for: device, after: 0)
        #expect(all.missed.isEmpty)
        #expect(all.copies.map(\.number) == [after])
    }

    private static func joiningBesideEvents(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let other = try place.open(serving: false)
        defer { other.close() }
        let devices = try (0..<8).map { _ in try CheckedDevice() }
        let joined = Collected<Device>()
        let numbers = Collected<Int64>()
        _ = inParallel(12) { thread in
            if thread < 4 {
                for round in 0..<25 {
                    numbers.add(try store.keep(.checked("team_a", "evt_\(thread)_\(round)")))
                }
            } else {
                joined.add(try devices[thread - 4].join(other, accounts: ["team_a"]))
            }
        }
        #expect(numbers.all.count == 100)
        #expect(joined.all.count == 8)
        for device in joined.all {
            let due = numbers.all.filter { $0 > device.start }.sorted()
            let had = try store.everything(for: device, after: device.start, byteLimit: 4_000)
            #expect(had.copies.map(\.number) == due)
        }
    }

    private static func boundedReading(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let (one, two) = (try CheckedDevice(), try CheckedDevice())
        let first = try one.join(store, accounts: ["team_a"])
        let second = try two.join(store, accounts: ["team_a"])
        var numbers: [Int64] = []
        for number in 0..<150 {
            numbers.append(
                try store.keep(
                    .checked("team_a", "evt_\(number)", text: String(repeating: "x", count: 500))))
        }
        let answers = try store.read([
            ReadRequest(device: first, after: first.start, byteLimit: 1),
            ReadRequest(device: second, after: numbers[9], byteLimit: 2_000),
            ReadRequest(device: second, after: numbers[149], byteLimit: 2_000),
        ])
        #expect(answers[0].copies.map(\.number) == [numbers[0]])
        #expect(answers[0].hasMore)
        #expect(answers[1].copies.map(\.number) == Array(numbers[10..<14]))
        #expect(answers[1].through == numbers[13])
        #expect(answers[2] == DeviceEvents(through: numbers[149], hasMore: false))
        let all = try store.everything(for: first, after: first.start, byteLimit: 3_000)
        #expect(all.copies.map(\.number) == numbers)
        #expect(all.missed.isEmpty)
    }
}
