import Sealing
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

/// How often and how long a rotation polls, by an injected clock.
@Suite("Polling of a rotation")
struct RotationFollowTests {
    /// A clock that advances only by what is waited.
    private final class Clock: RotationClock {
        var now: UInt64 = 1_000_000
        func wait(_ duration: Duration) -> Bool {
            let (seconds, attoseconds) = duration.components
            now += UInt64(seconds) * 1_000 + UInt64(attoseconds / 1_000_000_000_000_000)
            return true
        }
    }

    private final class Keeper: RotationStore {
        var kept: [RotationEntry] = []
        var sides: [RotationAction.Side] = []
        func keep(_ rotation: RotationEntry) { kept.append(rotation) }
        func makeCurrent(
            _ side: RotationAction.Side, ofMember member: Int, _ rotation: RotationEntry
        ) -> RotationProgress.Failure? {
            sides.append(side)
            return nil
        }
    }

    private final class Workers: RotationWorkers {
        func run(_ count: Int, limit: Int, _ work: @escaping (Int) -> Bool) {
            for place in 0..<count where !work(place) { return }
        }
    }

    private final class Commands: RotationCommands {
        var revocations = 0
        var (failsToRevoke, failsToCheck) = (false, false)
        var checked: [String] = []
        func apply(_ side: RotationAction.Side) -> RotationProgress.Failure? { nil }
        func revoke() -> RotationProgress.Failure? {
            if failsToRevoke { return .init(.revoke, "--revoke failed") }
            revocations += 1
            return nil
        }
        func check(
            _ member: Int, deployment: String, _ side: RotationAction.Side
        ) -> RotationProgress.Failure? {
            checked.append(deployment)
            return failsToCheck ? .init(.check, "--check failed") : nil
        }
    }

    private final class Platform: RotationRemote {
        let clock: Clock
        /// The times of the checks, since the start.
        var looks: [UInt64] = []
        var sending: [RotationPushResult] = []
        var standing = RotationRemoteValue.holdsNew
        var liveAfter: UInt64 = .max
        /// The state after the first look at a deployment.
        var later: RotationBuildState?
        var staysLater = false
        private let start: UInt64

        init(_ clock: Clock) { (self.clock, start) = (clock, clock.now) }

        func push(_ member: Int) -> RotationPushResult {
            sending.isEmpty ? .done : sending.removeFirst()
        }
        func standing(_ member: Int) -> Result<RotationRemoteValue, RotationProgress.Failure> {
            .success(standing)
        }
        func create(
            _ member: Int, _ build: RotationProgress.Build, _ side: RotationAction.Side,
            mayExist: Bool
        ) -> Result<String, RotationProgress.Failure> { .success("dpl_1") }
        func states(
            of builds: [(member: Int, build: RotationProgress.Build)], _ side: RotationAction.Side
        ) -> [Int: RotationBuildState] {
            looks.append(clock.now - start)
            let isLive = clock.now - start >= liveAfter
            if var state = later, looks.count == 2 || staysLater && looks.count > 2 {
                if state == .overtaken(by: builds[0].build.id) { state = .live }
                return [builds[0].member: state]
            }
            return Dictionary(
                uniqueKeysWithValues: builds.map { ($0.member, isLive ? .live : .underWay) })
        }
        func promote(
            _ member: Int, _ build: RotationProgress.Build
        ) -> RotationProgress.Failure? { nil }
        func evidence(
            of deployment: String, _ member: Int
        ) -> Result<RotationProgress.Evidence, RotationProgress.Failure> { .success(.holdsNew) }
        func survey(
            _ member: Int, _ build: RotationProgress.Build
        ) -> Result<(isLive: Bool, id: String?), RotationProgress.Failure> {
            .success((false, nil))
        }
        func restorePrevious(_ member: Int) -> RotationProgress.Failure? { nil }
    }

    private static func entry(
        timeout: UInt64 = 60, revoke: Bool = false,
        policy: RotationPlan.FailurePolicy = .rollback
    ) -> RotationEntry {
        var options = RotationPlan.Options()
        if revoke { (options.commands.check, options.commands.revoke) = ("check", "revoke") }
        (options.redeploys, options.failurePolicy) = (true, policy)
        options.timeoutSeconds = timeout
        return RotationEntry(
            createdAt: 1,
            plan: RotationPlan(
                key: "KEY", options: options,
                members: [
                    RotationPlan.Member(
                        project: .random(), name: "web", vercelProject: "prj",
                        vercelName: "web", target: "production", source: "dpl_0", newestAt: 1,
                        records: [.init(variable: .random(), oldVersion: 1, newVersion: 2)])
                ]))
    }

    private struct World {
        let clock = Clock()
        let keeper = Keeper()
        let commands = Commands()
        let platform: Platform

        init() { platform = Platform(clock) }

        func application(_ entry: RotationEntry) -> RotationApplication {
            RotationApplication(
                entry, keeper: keeper, platform: platform, commands: commands, workers: Workers(),
                clock: clock, tell: { _, _ in })
        }
    }

    @Test("SYNC-A7: polling slows down, and the revert begins at the timeout")
    func looksBecomeSeldom() throws {
        let world = World()
        let outcome = try world.application(Self.entry()).run()
        #expect(outcome == .rolledBack)
        let looks = world.platform.looks
        #expect(looks.count < 25, "\(looks)")
        // Not later than the given time, and not much earlier.
        #expect(looks.last == 60_000)
        let pauses = zip(looks.dropFirst(), looks).map { $0 - $1 }
        #expect(pauses.first == 300)
        #expect(pauses.max() == 5_000)
        #expect(pauses.dropLast() == pauses.dropLast().sorted()[...], "\(pauses)")
        // A quarter of an hour is not a thousand requests.
        let long = World()
        _ = try long.application(Self.entry(timeout: 900)).run()
        #expect(long.platform.looks.count < 190, "\(long.platform.looks.count)")
        #expect(long.platform.looks.last == 900_000)
    }

    @Test("SYNC-A7: a value Vercel does not get is reverted in the vault, and ends the rotation")
    func notSent() throws {
        for policy in [RotationPlan.FailurePolicy.rollback, .keep] {
            let world = World()
            world.platform.sending = [.notSent(.init(.changedThere, "it was changed"))]
            let application = world.application(Self.entry(policy: policy))
            #expect(try application.run() == .rolledBack)
            #expect(application.rotation.isUnused && !application.rotation.isOpen)
            #expect(world.keeper.sides == [.new, .old])
        }
        // A value sent by an earlier attempt may be there: this is not a fresh start.
        let world = World()
        world.platform.sending = [
            .notSent(.init(.changedThere, "it was changed")),
            .notSent(.init(.changedThere, "it was changed")),
        ]
        world.platform.standing = .unknown("it is not shown")
        var begun = Self.entry()
        begun.progress.members[0].push = .begun
        let application = world.application(begun)
        #expect(try application.run() == .needsAttention)
        #expect(application.rotation.isOpen)
    }

    @Test("SYNC-A7: the old value is revoked only where Vercel has the new one")
    func revokedOnlyAfterALook() throws {
        let world = World()
        world.platform.liveAfter = 0
        for standing in [RotationRemoteValue.holdsOther("other"), .unknown("hidden")] {
            world.platform.standing = standing
            let application = world.application(Self.entry(revoke: true))
            #expect(try application.run() == .needsAttention)
            #expect(application.rotation.progress[.revoke] == .pending)
            #expect(world.commands.revocations == 0)
        }
        world.platform.standing = .holdsNew
        #expect(try world.application(Self.entry(revoke: true)).run() == .done)
        #expect(world.commands.revocations == 1)
    }

    @Test(
        "SYNC-A7: the old value is not revoked once somebody rolled production back, and resuming builds it again",
        arguments: [false, true])
    func notRevokedOnceRolledBack(wasBegun: Bool) throws {
        let world = World()
        (world.platform.liveAfter, world.commands.failsToRevoke) = (0, wasBegun)
        let application = world.application(Self.entry(revoke: true))
        let gone = RotationBuildState.ended(.init(.notLive, "it was rolled back"))
        if !wasBegun { world.platform.later = gone }
        #expect(try application.run() == .needsAttention)
        if wasBegun {
            // The revocation failed once; then production is rolled back.
            world.platform.looks = [0]
            world.platform.later = gone
            #expect(try application.run { $0.resume() } == .needsAttention)
        }
        world.commands.failsToRevoke = false
        #expect(world.commands.revocations == 0)
        let reason = application.rotation.progress.failure?.reason ?? ""
        // A command that failed may have revoked it.
        #expect(reason.hasSuffix("so the old value was not revoked") == !wasBegun)
        let attempt = application.rotation.progress.members[0].build.attempt
        #expect(try application.run { $0.resume() } == .done)
        #expect(application.rotation.progress.members[0].build.attempt == attempt + 1)
        #expect(world.commands.revocations == 1)
    }

    @Test func `a state that is not known before the revocation is asked again, then left open`()
        throws
    {
        let world = World()
        (world.platform.liveAfter, world.platform.later) = (0, .underWay)
        #expect(try world.application(Self.entry(revoke: true)).run() == .done)
        #expect(world.commands.revocations == 1)
        world.platform.looks = []
        world.platform.staysLater = true
        let application = world.application(Self.entry(revoke: true))
        #expect(try application.run() == .needsAttention)
        #expect(world.commands.revocations == 1)
        #expect(application.rotation.progress[.revoke] == .pending)
        #expect(application.rotation.progress.members[0].build.live == .done)
        world.platform.later = .overtaken(by: "dpl_theirs")
        #expect(try application.run { $0.resume() } == .done)
        #expect(application.rotation.progress.members[0].build.id == "dpl_theirs")
        // Theirs was checked too.
        #expect(world.commands.checked.suffix(2) == ["dpl_1", "dpl_theirs"])
    }

    @Test func `a value that may be revoked does not become live again`() throws {
        let world = World()
        (world.platform.liveAfter, world.commands.failsToRevoke) = (0, true)
        let first = world.application(Self.entry(revoke: true))
        #expect(try first.run() == .needsAttention)
        // As if it was killed during the revocation; then somebody deploys.
        var killed = first.rotation
        killed.progress[.revoke] = .begun
        (killed.progress.outcome, killed.progress.failure) = (.none, nil)
        world.platform.looks = [0]
        world.platform.later = .overtaken(by: "dpl_theirs")
        world.commands.failsToCheck = true
        let application = world.application(killed)
        #expect(try application.run { $0.resume() } == .needsAttention)
        #expect(world.commands.checked.last == "dpl_theirs")
        #expect(application.rotation.progress.direction == .forward)
        #expect(application.rotation.progress[.revoke] == .begun)
        #expect(world.keeper.sides == [.new])
        (world.commands.failsToCheck, world.commands.failsToRevoke) = (false, false)
        #expect(try application.run { $0.resume() } == .done)
        #expect(world.commands.revocations == 1)
    }

    private static func record(
        at time: UInt64 = 100, by author: String? = "us", comment: String? = nil
    ) throws -> VercelRecord {
        let json = """
            {"id":"env_1","key":"KEY","type":"sensitive","target":["production"],
            "updatedAt":\(time),"updatedBy":\(author.map { "\"\($0)\"" } ?? "null"),
            "comment":\(comment.map { "\"\($0)\"" } ?? "null")}
            """
        let decoded = try #require(
            Array(json.utf8).withBytes { JSONDecoding.value(EnvironmentVariable.self, from: $0) })
        return VercelRecord(decoded, environments: CustomEnvironmentNames([]))
    }

    @Test("SYNC-A7: the value of Vercel's record, and when it is unknown")
    func standings() throws {
        let scope = Scope(targets: .production)
        var variable = Variable(
            project: .random(), name: "KEY",
            attributes: VariableAttributes(kind: .sensitive, scope: scope), createdAt: 1)
        let agreed = VariableAttributes(kind: .sensitive, scope: scope)
        variable.remote = RemoteState(
            id: "env_1", key: "KEY", account: "us", pushedVersion: 2, agreed: agreed,
            updatedAt: 100, pushedAt: 1)
        enum Word { case new, other, unknown }
        func word(
            _ record: VercelRecord?, _ shown: RotationRemoteValue.Shown = .hidden,
            account: String = "us"
        ) -> Word {
            let standing = RotationRemoteValue(
                of: variable, record, shown: shown, newVersion: 2, account: account)
            switch standing {
            case .holdsNew: return .new
            case .holdsOther: return .other
            case .unknown: return .unknown
            }
        }
        #expect(try word(Self.record()) == .new)
        #expect(word(nil) == .other)
        #expect(try word(Self.record(at: 200, by: "them"), .new) == .new)
        #expect(try word(Self.record(at: 200), .old) == .other)
        #expect(try word(Self.record(), .other) == .other)
        // Not shown: another user's write is another value, unless it may have changed only a note.
        #expect(try word(Self.record(at: 200, by: "them")) == .other)
        #expect(try word(Self.record(at: 200, by: "them", comment: "note")) == .unknown)
        #expect(try word(Self.record(at: 200)) == .unknown)
        #expect(try word(Self.record(at: 200, by: nil)) == .unknown)
        #expect(try word(Self.record(at: 200, by: "them"), account: "") == .unknown)
        #expect(try word(Self.record(at: 50, by: "them")) == .unknown)
        variable.remote?.pushedVersion = 1
        #expect(try word(Self.record()) == .unknown)
        variable.remote = nil
        #expect(try word(Self.record()) == .unknown)
        #expect(
            RotationRemoteValue.joined([.holdsNew, .holdsOther("a")])
                == .unknown("a, for only some of its targets"))
        #expect(RotationRemoteValue.joined([.holdsOther("a"), .unknown("b")]) == .unknown("b"))
        #expect(
            RotationRemoteValue.joined([.holdsOther("a"), .holdsOther("b")]) == .holdsOther("a"))
        #expect(RotationRemoteValue.joined([.holdsNew, .holdsNew]) == .holdsNew)
    }
}
