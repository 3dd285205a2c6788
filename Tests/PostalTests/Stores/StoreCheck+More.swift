import Foundation
import Postal
import Sealing
import Testing

extension StoreCheck {
    static func oneOrder(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let device = try CheckedDevice()
        let joined = try device.join(store, accounts: ["team_c", "team_a", "team_b"])
        var numbers: [Int64] = []
        for number in 0..<60 {
            let account = ["team_a", "team_b", "team_c", "team_d"][number * 7 % 4]
            let kept = try store.keep(.checked(account, "evt_\(number)"))
            if account != "team_d" { numbers.append(kept) }
        }
        let all = try store.everything(for: joined, after: joined.start)
        #expect(all.copies.map(\.number) == numbers)
    }

    /// With a limit of 10 waiting events.
    static func tooMany(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let (one, two) = (try CheckedDevice(), try CheckedDevice())
        let first = try one.join(store, accounts: ["team_a"])
        let second = try two.join(store, accounts: ["team_a", "team_b"])
        let numbers = try (0..<100).map { try store.keep(.checked("team_a", "evt_\($0)")) }
        try store.acknowledge([first.id: numbers[19]])
        // Before and after dropping the excess: 70 of the 80 that the first had not read.
        for isPruned in [false, true] {
            if isPruned { try store.prune(now: 2_000) }
            let all = try store.everything(for: first, after: numbers[19])
            #expect(all.missed.count == 1)
            #expect([70, 0].contains(all.missed.first?.count))
            #expect(all.missed.first?.through == numbers[89])
            #expect(all.copies.map(\.number) == Array(numbers[90...]))
        }
        let more = try (0..<3).map { try store.keep(.checked("team_b", "evt_\($0)")) }
        let all = try store.everything(for: second, after: second.start)
        #expect([93, 0].contains(all.missed.map(\.count).reduce(0, +)))
        #expect(all.copies.map(\.number) == Array(numbers[93...]) + more)
        // A gap is reported once to each device.
        try store.acknowledge([first.id: numbers[99]])
        #expect(try store.everything(for: first, after: numbers[99]).missed.isEmpty)
    }

    static func tooOld(_ place: any StorePlace) throws {
        guard place.prunesByGivenTime else { return }
        let store = try place.open(serving: true)
        defer { store.close() }
        let (one, two) = (try CheckedDevice(), try CheckedDevice())
        let first = try one.join(store, accounts: ["team_a"])
        let second = try two.join(store, accounts: ["team_a"])
        let day: Int64 = 24 * 3_600_000
        let old = try (0..<30).map {
            try store.keep(.checked("team_a", "old_\($0)", at: 1_000 + Int64($0)))
        }
        let new = try (0..<3).map { try store.keep(.checked("team_a", "new_\($0)", at: 5 * day)) }
        try store.acknowledge([second.id: old[24]])
        try store.prune(now: 7 * day)
        #expect(try store.everything(for: first, after: first.start).copies.count == 33)
        try store.prune(now: 8 * day)
        let all = try store.everything(for: first, after: first.start)
        #expect(all.missed == [.init(count: 30, through: old[29])])
        #expect(all.copies.map(\.number) == new)
        let less = try store.everything(for: second, after: old[24])
        #expect(less.missed == [.init(count: 5, through: old[29])])
        #expect(less.copies.map(\.number) == new)
        // Numbers are never reused, even when nothing is left.
        try store.prune(now: 30 * day)
        #expect(try store.status().events == 0)
        #expect(try store.newest() == new[2])
        #expect(try store.keep(.checked("team_a", "evt_last", at: 30 * day)) > new[2])
    }

    static func acknowledged(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let device = try CheckedDevice()
        let joined = try device.join(store, accounts: ["team_a"])
        let numbers = try (0..<5).map { try store.keep(.checked("team_a", "evt_\($0)")) }
        try store.acknowledge([joined.id: numbers[2], "nobody-is-called-so": numbers[2]])
        #expect(try store.device(id: joined.id)?.acknowledged == numbers[2])
        try store.acknowledge([joined.id: numbers[0]])
        #expect(try store.device(id: joined.id)?.acknowledged == numbers[2])
        try store.prune(now: 2_000)
        #expect(
            try store.everything(for: joined, after: numbers[2]).copies.map(\.number)
                == Array(numbers[3...]))
    }

    static func reopened(_ place: any StorePlace) throws {
        let device = try CheckedDevice()
        let digest = Random.bytes(32)
        var store = try place.open(serving: true)
        let joined = try device.join(store, accounts: ["team_a"])
        try store.add(Invite(digest: digest, accounts: ["team_a"], expiresAt: 60_000))
        let number = try store.keep(.checked("team_a", "evt_1"))
        store.close()
        store = try place.open(serving: true)
        defer { store.close() }
        #expect(try store.device(id: joined.id) == joined)
        #expect(store.append([.checked("team_a", "evt_1")]) == [.duplicate])
        #expect(try store.everything(for: joined, after: 0).copies.map(\.number) == [number])
        #expect(try store.newest() == number)
        let status = try store.status()
        #expect(status.devices == 1 && status.invites == 1 && status.events == 1)
        try store.check()
    }

    static func toldOfChanges(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let other = try place.open(serving: place.servesSeveralRelays)
        defer { other.close() }
        let device = try CheckedDevice()
        let joined = try device.join(other, accounts: ["team_a"])
        let changes = Collected<StoreChange>()
        store.observe { changes.add($0) }
        _ = try store.keep(.checked("team_a", "evt_own"))
        try changes.wait("an event of its own") { Self.tells($0, eventsOf: "team_a") }
        _ = try other.keep(.checked("team_b", "evt_other"))
        try changes.wait("an event of another process") { Self.tells($0, eventsOf: "team_b") }
        #expect(try other.removeDevice(id: joined.id))
        try changes.wait("a device that another process removed") { change in
            if case .removed(let devices) = change { devices.contains(joined.id) } else { false }
        }
        guard place.servesSeveralRelays else { return }
        other.announceStream(of: joined.id, at: "relay-2")
        try changes.wait("a stream at another relay") {
            $0 == .streamBegan(device: joined.id, relay: "relay-2")
        }
    }

    private static func tells(_ change: StoreChange, eventsOf account: String) -> Bool {
        switch change {
        case .events(let accounts): accounts.contains(account)
        case .anything: true
        default: false
        }
    }

    static func manyWriters(_ place: any StorePlace) throws {
        let store = try place.open(serving: true)
        defer { store.close() }
        let other = try place.open(serving: false)
        defer { other.close() }
        let device = try CheckedDevice()
        let joined = try device.join(store, accounts: ["team_a"])
        let numbers = Collected<Int64>()
        let failures = inParallel(8) { thread in
            for round in 0..<20 {
                let kept = try (thread % 4 == 0 ? other : store)
                    .keep(.checked("team_a", "evt_\(thread)_\(round)"))
                numbers.add(kept)
                if round % 5 == 0 { try store.acknowledge([joined.id: 0]) }
            }
            return true
        }
        #expect(failures.allSatisfy { $0 == true })
        #expect(Set(numbers.all).count == 160)
        #expect(
            try store.everything(for: joined, after: joined.start).copies.map(\.number)
                == numbers.all.sorted())
    }
}

/// Values collected from several threads.
final class Collected<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Value] = []

    var all: [Value] { lock.withLock { values } }

    func add(_ value: Value) { lock.withLock { values.append(value) } }

    /// Waits up to 30 seconds for a value of a kind.
    func wait(_ what: String, until isMeant: (Value) -> Bool) throws {
        let end = ContinuousClock.now + .seconds(30)
        while !all.contains(where: isMeant) {
            guard ContinuousClock.now < end else { throw CheckFailure("nobody reported \(what)") }
            usleep(5_000)
        }
    }
}

/// Runs `body` on several threads; nil for one that threw, which is recorded.
func inParallel<R: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> R
) -> [R?] {
    let results = Collected<(Int, R)>()
    let threads = (0..<count).map { number in
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { results.add((number, try body(number))) } catch {
                Issue.record("thread \(number): \(error)")
            }
            done.signal()
        }
        return done
    }
    for thread in threads { thread.wait() }
    var list = [R?](repeating: nil, count: count)
    for (number, result) in results.all { list[number] = result }
    return list
}
