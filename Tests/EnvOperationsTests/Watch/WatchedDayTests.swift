import EnvOperations
import Sealing
import TestSupport
import Testing

@testable import Vault

/// A day of watching in simulated time, as `notify run` does it, with every kind of failure.
@Suite("A day of watching")
struct WatchedDayTests {
    static let scope = NotificationChoices.Scope(
        origin: "https://api.example", accountID: "u", teamID: nil)
    static let start: Int64 = 1_700_000_000_000
    static let day: Int64 = 86_400_000

    /// The state of one process in memory; a new one starts with the stored state.
    final class Watch {
        let platform: SimulatedVercel
        let choices: NotificationChoices
        var schedule = RefreshSchedule()
        var progress = WatchProgress()
        /// The state on disk.
        var kept: [UInt8]?
        var isFirst = true
        var told: [WatchProgress.Pending] = []
        var messages: [NotificationMessage] = []
        var mostEntries = 0
        let sealing: WatchSealing

        init(_ platform: SimulatedVercel, _ choices: NotificationChoices) throws {
            self.platform = platform
            self.choices = choices
            sealing = try WatchSealing(
                key: try SecretBytes.random(count: 32), vault: Identifier(high: 1, low: 2))
        }

        var clock: RefreshObservation {
            RefreshObservation(
                monotonic: .milliseconds(platform.now - start),
                sinceBoot: .milliseconds(platform.now - start), wallMilliseconds: platform.now)
        }

        /// Restarts with only the state on disk.
        func restart() throws {
            schedule = RefreshSchedule()
            isFirst = true
            progress = WatchProgress()
            guard let kept else { return }
            progress = try #require(sealing.open(kept, as: .progress, WatchProgress.self))
        }

        func keep() throws {
            kept = sealing.seal(progress, as: .progress)
            #expect(kept != nil)
        }

        /// Runs one turn. `dies` is where the process ends: after the request, or after storing the
        /// state. In both places nothing unstored has been shown. Returns whether it ended.
        func turn(dies: Int?) throws -> Bool {
            schedule.observe(clock)
            let now = clock.monotonic
            guard schedule.begin(at: now) != nil else { return false }
            let before = progress
            let (outcome, failure) = progress.refresh(
                scope, choices, now: platform.now, isLate: isFirst, from: platform)
            schedule.finish(outcome, at: now, random: 0.5)
            if failure == nil { isFirst = false }
            mostEntries = max(mostEntries, progress.entryCount)
            if dies == 0 { return true }
            if progress != before { try keep() }
            if dies == 1 { return true }
            for message in NotificationMessage.messages(of: progress) {
                messages.append(message)
                told += message.covers
                progress.noteTold(message)
                try keep()
                if dies == 2 { return true }
            }
            return false
        }
    }

    static func choices(_ projects: [String], since: Int64 = start) -> NotificationChoices {
        var choices = NotificationChoices()
        for project in projects {
            let isSet = choices.set(
                .init(
                    scope: scope, projectID: project, name: project,
                    events: Set(NotificationChoices.Event.allCases), productionOnly: false,
                    since: since))
            #expect(isSet)
        }
        return choices
    }

    /// Compared with the simulated deployments: each event once, and nothing else.
    static func check(_ watch: Watch, until end: Int64) {
        let told = watch.told.map { "\($0.change.kind.rawValue) \($0.change.deployment.id)" }
        let expected = watch.platform.made.filter { $0.endedAt <= end }.flatMap { one in
            ["started \(one.id)", "\(one.end.rawValue) \(one.id)"]
        }
        #expect(Set(told).count == told.count, "told twice")
        let missed = Set(expected).subtracting(told)
        #expect(missed.isEmpty, "not told: \(missed.sorted().prefix(5))")
        let possible = watch.platform.made.flatMap { one in
            ["started \(one.id)", "\(one.end.rawValue) \(one.id)"]
        }
        #expect(Set(told).isSubset(of: possible))
    }

    @Test(arguments: 0..<(Proof.isFull ? 40 : 1) as Range<UInt64>)
    func `nothing is reported twice or missed, with restarts, outages, sleep and late lists`(
        stream: UInt64
    ) throws {
        var random = ProofRandom(stream)
        let platform = SimulatedVercel(now: Self.start, random: ProofRandom(stream &+ 100))
        platform.lag = 20_000
        let projects = (0..<12).map { "prj_\($0)" }
        let watch = try Watch(platform, Self.choices(projects))
        var downUntil = Self.start
        var restarts = 0
        var states: [Int] = []
        while platform.now < Self.start + Self.day {
            platform.now += 2_000
            platform.isDown = platform.now < downUntil
            if Int.random(in: 0..<90, using: &random) == 0,
                let project = projects.randomElement(using: &random)
            {
                platform.make(project: project)
                // One push, many projects.
                if Int.random(in: 0..<10, using: &random) == 0 {
                    projects.forEach { platform.make(project: $0) }
                }
            }
            switch Int.random(in: 0..<10_000, using: &random) {
            case 0..<3: downUntil = platform.now + Int64.random(in: 0...3_600_000, using: &random)
            case 3:
                // Asleep: others deploy.
                for _ in 0..<Int.random(in: 0...30, using: &random) {
                    platform.now += Int64.random(in: 0...120_000, using: &random)
                    platform.make(project: projects.randomElement(using: &random) ?? "")
                }
            case 4..<7:
                restarts += 1
                platform.now += Int64.random(in: 0...7_200_000, using: &random)
                try watch.restart()
            default: break
            }
            let dies =
                Int.random(in: 0..<150, using: &random) == 0
                ? Int.random(in: 0...2, using: &random) : nil
            if try watch.turn(dies: dies) {
                restarts += 1
                try watch.restart()
            }
            if platform.now % 3_600_000 < 2_000 { states.append(watch.kept?.count ?? 0) }
        }
        // Unfinished deployments end, and late lists catch up.
        let end = platform.now
        platform.lag = 0
        platform.isDown = false
        for _ in 0..<1_500 {
            platform.now += 1_000
            _ = try watch.turn(dies: nil)
        }
        #expect(restarts > 3 && platform.made.count > 300)
        Self.check(watch, until: end)
        // Bounded: an hour of deployments, and their state.
        #expect(watch.mostEntries < 400, "\(watch.mostEntries)")
        #expect((states.max() ?? 0) < 256 << 10)
    }

    @Test func `a day with two hundred projects stays far below Vercel's limits`() throws {
        let platform = SimulatedVercel(now: Self.start, random: ProofRandom(7))
        let projects = (0..<200).map { "prj_\($0)" }
        let watch = try Watch(platform, Self.choices(projects))
        var random = ProofRandom(8)
        var hours: [Int] = []
        for hour in 0..<Proof.count(short: 6, full: 24) {
            let before = platform.requestCount
            for _ in 0..<1_200 {
                platform.now += 3_000
                // Some hours are quiet; in others something builds all the time.
                if hour % 3 > 0, Int.random(in: 0..<20, using: &random) == 0 {
                    platform.make(project: projects.randomElement(using: &random) ?? "")
                }
                _ = try watch.turn(dies: nil)
            }
            hours.append(platform.requestCount - before)
        }
        // Four a minute while something builds, one a minute otherwise; a few more for lists that
        // left out unfinished deployments.
        #expect(hours.allSatisfy { $0 <= 300 }, "\(hours)")
        #expect(hours.min() ?? 0 >= 60)
        #expect(hours[0] == 60)
        Self.check(watch, until: platform.now - 1_200_000)
    }

    @Test func `events during an absence are summarized`() throws {
        let platform = SimulatedVercel(now: Self.start, random: ProofRandom(9))
        platform.isComplete = true
        let watch = try Watch(platform, Self.choices(["web", "api"]))
        _ = try watch.turn(dies: nil)
        for _ in 0..<40 {
            platform.now += 600_000
            platform.make(project: "web")
        }
        platform.make(project: "api")
        platform.now += 3_600_000
        try watch.restart()
        _ = try watch.turn(dies: nil)
        #expect(watch.messages.map(\.subject) == ["dpl_40", "project web"])
        let summary = try #require(watch.messages.last)
        #expect(summary.title == "40 deployments of web finished")
        #expect(
            summary.body.contains(" ready, ") && summary.body.contains("zg-env was not watching"))
        #expect(watch.told.count == 82)
        // And not once more.
        try watch.restart()
        platform.now += 60_000
        _ = try watch.turn(dies: nil)
        #expect(watch.messages.count == 2)
    }

    @Test func `too many to list or store are counted, not skipped`() throws {
        let platform = SimulatedVercel(now: Self.start, random: ProofRandom(10))
        let watch = try Watch(platform, Self.choices((0..<20).map { "prj_\($0)" }))
        _ = try watch.turn(dies: nil)
        for place in 0..<1_200 {
            platform.now += 1_000
            platform.make(project: "prj_\(place % 20)")
        }
        platform.now += 3_600_000
        try watch.restart()
        _ = try watch.turn(dies: nil)
        #expect(watch.messages.map(\.subject) == ["all", "lost"])
        let text = watch.messages.last?.body ?? ""
        #expect(text.contains("dropped because there were too many"))
        #expect(text.contains("of each project were checked"))
        platform.now += 120_000
        _ = try watch.turn(dies: nil)
        // One that was still building may be reported by itself.
        let again = watch.messages.dropFirst(2).map(\.subject)
        #expect(again.allSatisfy { $0.hasPrefix("dpl_") }, "\(again)")
    }
}
