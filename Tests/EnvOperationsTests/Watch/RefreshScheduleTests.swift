import EnvOperations
import TestSupport
import Testing

@Suite("The refresh schedule")
struct RefreshScheduleTests {
    typealias Reason = RefreshSchedule.Reason

    @Test func `beside a relay the timer is slow, and never faster than configured`() {
        #expect(
            RefreshIntervals.standard.besideRelay
                == RefreshIntervals(buildingSeconds: 60, idleSeconds: 600))
        let wanted = RefreshIntervals(buildingSeconds: 90, idleSeconds: 3_000)
        #expect(wanted.besideRelay == wanted)
    }

    /// A machine whose clocks are moved by hand.
    struct Machine {
        var now = RefreshObservation(
            monotonic: .seconds(100), sinceBoot: .seconds(500), wallMilliseconds: 1_700_000_000_000,
            vault: .init(device: 1, inode: 7, changedAt: 1),
            answers: .init(device: 1, inode: 8, changedAt: 1), hasNetwork: true)
        var schedule = RefreshSchedule()

        mutating func run(_ duration: Duration, asleep: Bool = false) {
            if !asleep { now.monotonic += duration }
            now.sinceBoot += duration
            now.wallMilliseconds += duration.components.seconds * 1_000
            schedule.observe(now)
        }

        /// Begins a request if one is due, and ends it at once.
        mutating func ask(
            _ outcome: RefreshSchedule.Outcome = .answered(isBuilding: false), random: Double = 0
        ) -> Set<Reason>? {
            schedule.observe(now)
            guard let reasons = schedule.begin(at: now.monotonic) else { return nil }
            schedule.finish(outcome, at: now.monotonic, random: random)
            return reasons
        }
    }

    /// A machine that has made one request.
    static func started(
        _ outcome: RefreshSchedule.Outcome = .answered(isBuilding: false), random: Double = 0
    ) -> Machine {
        var machine = Machine()
        #expect(machine.ask(outcome, random: random) == [.start])
        return machine
    }

    @Test func `it asks at the start, and then by the matching timer`() {
        var machine = Self.started()
        machine.run(.seconds(59))
        #expect(machine.ask() == nil)
        #expect(machine.schedule.wait(at: machine.now.monotonic) == .seconds(1))
        machine.run(.seconds(1))
        #expect(machine.ask(.answered(isBuilding: true)) == [.timer])
        machine.run(.seconds(14))
        #expect(machine.ask() == nil)
        machine.run(.seconds(1))
        #expect(machine.ask() == [.timer])
    }

    @Test func `the interval runs from request to request, however long a response takes`() {
        var machine = Machine()
        machine.schedule.observe(machine.now)
        #expect(machine.schedule.begin(at: machine.now.monotonic) == [.start])
        machine.run(.seconds(10))
        machine.schedule.finish(
            .answered(isBuilding: true), at: machine.now.monotonic, random: 0)
        #expect(machine.schedule.wait(at: machine.now.monotonic) == .seconds(5))
        // While a request is running nothing is due.
        machine.run(.seconds(5))
        #expect(machine.schedule.begin(at: machine.now.monotonic) == [.timer])
        machine.run(.seconds(100))
        #expect(machine.schedule.begin(at: machine.now.monotonic) == nil)
    }

    @Test func `a user who asks for a refresh need not wait, but cannot flood Vercel`() {
        var machine = Self.started()
        machine.schedule.request()
        machine.run(.milliseconds(500))
        #expect(machine.ask() == nil)
        machine.run(.milliseconds(500))
        #expect(machine.ask() == [.request])
        #expect(machine.ask() == nil)
    }

    @Test func `changes by other processes trigger a refresh, at most every five seconds`() {
        var machine = Self.started()
        machine.run(.seconds(10))
        machine.now.vault = .init(device: 1, inode: 9, changedAt: 1)
        #expect(machine.ask() == [.vaultChanged])
        machine.now.answers = .init(device: 1, inode: 8, changedAt: 2)
        machine.run(.seconds(4))
        #expect(machine.ask() == nil)
        machine.now.vault = nil
        machine.run(.seconds(1))
        #expect(machine.ask() == [.vaultChanged, .answersChanged])
        machine.run(.seconds(10))
        #expect(machine.ask() == nil)
    }

    @Test func `this process's own changes trigger nothing`() {
        var machine = Self.started()
        machine.now.answers = .init(device: 1, inode: 8, changedAt: 2)
        machine.schedule.acknowledge(answers: machine.now.answers)
        machine.run(.seconds(10))
        #expect(machine.ask() == nil)
    }

    @Test func `a sleep ends the wait, also one that only the wall clock shows`() {
        var machine = Self.started()
        machine.run(.seconds(8 * 3_600), asleep: true)
        machine.run(.seconds(1))
        #expect(machine.ask() == [.resumed])
        // The host of a virtual machine slept: only the time of day jumps.
        machine.run(.seconds(2))
        machine.now.wallMilliseconds += 31_000
        #expect(machine.ask() == [.resumed])
        machine.now.wallMilliseconds -= 3_600_000
        machine.run(.seconds(1))
        #expect(machine.ask() == [.resumed])
        // A clock corrected by a second is not a sleep, nor is a slow reading of the clocks.
        machine.now.wallMilliseconds += 1_000
        machine.now.sinceBoot += .milliseconds(500)
        machine.run(.seconds(1))
        #expect(machine.ask() == nil)
    }

    @Test func `a returning network ends the pause`() {
        var machine = Self.started()
        machine.now.hasNetwork = false
        for _ in 0..<12 {
            machine.run(.seconds(900))
            _ = machine.ask(.failed(retryAfter: nil), random: 1)
        }
        #expect(machine.schedule.wait(at: machine.now.monotonic) == .seconds(900))
        machine.now.hasNetwork = true
        machine.run(.seconds(2))
        #expect(machine.ask(.failed(retryAfter: nil)) == [.networkBack])
        // It is up, but not reachable yet: retried soon.
        #expect(machine.schedule.wait(at: machine.now.monotonic) == .seconds(5))
    }

    @Test func `pauses after failures double, with jitter and a limit`() {
        var machine = Machine()
        var pauses: [Duration] = []
        for _ in 0..<12 {
            #expect(machine.ask(.failed(retryAfter: nil), random: 1) != nil)
            pauses.append(machine.schedule.wait(at: machine.now.monotonic))
            machine.run(pauses.last ?? .zero)
        }
        #expect(
            pauses
                == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900].map { .seconds($0) })
        var other = Machine()
        #expect(other.ask(.failed(retryAfter: nil), random: 0) != nil)
        #expect(other.schedule.wait(at: other.now.monotonic) == .milliseconds(2_500))
    }

    @Test func `an outage ends at the next success`() {
        var machine = Machine()
        for _ in 0..<5 {
            _ = machine.ask(.failed(retryAfter: nil), random: 1)
            machine.run(.seconds(900))
        }
        #expect(machine.schedule.failureCount == 5)
        _ = machine.ask()
        #expect(machine.schedule.failureCount == 0)
        #expect(machine.schedule.wait(at: machine.now.monotonic) == .seconds(60))
        machine.run(.seconds(60))
        _ = machine.ask(.failed(retryAfter: nil), random: 1)
        #expect(machine.schedule.wait(at: machine.now.monotonic) == .seconds(5))
    }

    @Test func `no request is sent before Vercel's retry time`() {
        var machine = Self.started(.failed(retryAfter: .seconds(120)), random: 0)
        machine.schedule.request()
        machine.now.vault = nil
        machine.run(.seconds(119))
        #expect(machine.ask() == nil)
        #expect(machine.schedule.wait(at: machine.now.monotonic) == .seconds(1))
        machine.run(.seconds(1))
        #expect(machine.ask() == [.timer, .request, .vaultChanged])
        // An absurd time is not waited for, and one in the past does not count.
        var other = Self.started(.failed(retryAfter: .seconds(86_400 * 365)), random: 0)
        #expect(other.schedule.wait(at: other.now.monotonic) == .seconds(3_600))
        other = Self.started(.failed(retryAfter: .seconds(-5)), random: 1)
        #expect(other.schedule.wait(at: other.now.monotonic) == .seconds(5))
    }

    @Test func `a refused token is not retried soon, but at once when the vault changes`() {
        var machine = Self.started(.refused)
        machine.run(.seconds(899))
        #expect(machine.ask() == nil)
        machine.now.vault = .init(device: 1, inode: 7, changedAt: 2)
        #expect(machine.ask() == [.vaultChanged])
    }

    @Test func `intervals stay within their bounds`() {
        let tooSmall = RefreshIntervals(buildingSeconds: -1, idleSeconds: 0)
        #expect(tooSmall.building == .seconds(5) && tooSmall.idle == .seconds(5))
        let tooLarge = RefreshIntervals(buildingSeconds: .max, idleSeconds: 5)
        #expect(tooLarge.building == .seconds(3_600) && tooLarge.idle == .seconds(3_600))
        let standard = RefreshIntervals.standard
        #expect(standard.building == .seconds(15) && standard.idle == .seconds(60))
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `whatever happens in a day, it never asks more often than the bounds allow`(seed: UInt64) {
        var random = ProofRandom(seed)
        var machine = Machine()
        var asked: [Duration] = []
        let end = machine.now.monotonic + .seconds(86_400)
        while machine.now.monotonic < end {
            machine.run(.milliseconds(Int64.random(in: 1...20_000, using: &random)))
            switch Int.random(in: 0..<20, using: &random) {
            case 0: machine.schedule.request()
            case 1: machine.now.vault = nil
            case 2: machine.now.vault = .init(device: 1, inode: 1, changedAt: 1)
            case 3: machine.now.answers = .init(device: 1, inode: 1, changedAt: .max)
            case 4: machine.now.hasNetwork?.toggle()
            case 5: machine.run(.seconds(60), asleep: true)
            default: break
            }
            let outcomes: [RefreshSchedule.Outcome] = [
                .answered(isBuilding: true), .answered(isBuilding: false),
                .failed(retryAfter: nil), .refused,
            ]
            let outcome = outcomes.randomElement(using: &random) ?? .refused
            if machine.ask(outcome, random: .random(in: 0..<1, using: &random)) != nil {
                asked.append(machine.now.monotonic)
            }
            #expect(
                machine.schedule.wait(at: machine.now.monotonic) <= RefreshIntervals.longestPause)
        }
        let gaps = zip(asked, asked.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 >= RefreshIntervals.shortest })
        #expect(asked.count > 86_400 / 900)
    }

    @Test("refreshes at once for an event, but not for this process's own changes")
    func events() {
        var machine = Self.started()
        machine.run(.seconds(2))
        machine.schedule.request(.event)
        #expect(machine.ask() == [.event])
        machine.run(.seconds(10))
        machine.now.vault = .init(device: 1, inode: 9, changedAt: 2)
        machine.schedule.acknowledge(vault: machine.now.vault)
        #expect(machine.ask() == nil)
        machine.now.vault = .init(device: 1, inode: 10, changedAt: 3)
        #expect(machine.ask() == [.vaultChanged])
    }

    @Test("uses new intervals at once, and keeps the pauses of an outage")
    func otherIntervals() {
        let slow = RefreshIntervals(buildingSeconds: 60, idleSeconds: 600)
        var machine = Self.started()
        machine.run(.seconds(30))
        machine.schedule.use(slow)
        machine.run(.seconds(100))
        #expect(machine.ask() == nil)
        // The relay is gone: what would be due by now is due.
        machine.schedule.use(.standard)
        #expect(machine.ask() == [.timer])
        machine.schedule.use(slow)
        machine.run(.seconds(599))
        #expect(machine.ask() == nil)
        machine.run(.seconds(1))
        #expect(machine.ask(.failed(retryAfter: nil), random: 1) == [.timer])
        machine.schedule.use(.standard)
        machine.run(.seconds(4))
        #expect(machine.ask() == nil)
        machine.run(.seconds(2))
        #expect(machine.ask(.answered(isBuilding: true)) == [.timer])
        machine.run(.seconds(15))
        #expect(machine.ask(.answered(isBuilding: true)) == [.timer])
        machine.schedule.use(slow)
        machine.run(.seconds(59))
        #expect(machine.ask() == nil)
        machine.run(.seconds(1))
        #expect(machine.ask() == [.timer])
    }
}
