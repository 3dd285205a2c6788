import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// Kills rotations before and after each request takes effect, and in each of the user's commands.
/// Some requests, chosen by the seed; with ZG_ENV_PROOF=full all.
@Suite("Killed rotations")
struct RotationKillTests {
    private static let (old, new) = (RotationHome.old, RotationHome.new)

    /// The rotation that is killed. Its commands record each call and what they got.
    private static func runner(_ home: RotationHome) -> ProgramRunner {
        home.runner([
            "--apply", home.recorder("apply"), "--check", "cat >\(home.path("checked"))",
            "--revoke", home.recorder("revoke"),
        ])
    }

    /// The number of requests of an undisturbed rotation.
    private static func requestCount() throws -> Int {
        let home = try RotationHome()
        let requests = try home.platform.requests { done(try runner(home).run()) }
        try home.expect(new)
        #expect(requests.count >= 12, "\(requests)")
        return requests.count
    }

    /// Kills the rotation at a request that the sandbox has received and delays.
    ///
    /// - Parameter isDone: Whether the sandbox carries out the request.
    private static func killed(
        _ home: RotationHome, atRequest number: Int, isDone: Bool
    ) throws -> ProgramResult {
        let passing = number == 0 ? [] : ["* * slow:0 x\(number)"]
        // A request refused with 503 was not carried out; the client waits before it retries.
        let last = isDone ? "* * slow:8" : "* * 503"
        home.platform.server.setFaults((passing + [last]).compactMap { Fault($0) })
        let result = try home.platform.signalled(
            runner(home), by: SIGKILL, afterRequests: number + 1
        ).run()
        home.platform.server.setFaults([])
        return result
    }

    /// Whether there is a rotation that can be resumed or aborted.
    private static func isOpen(_ home: RotationHome) throws -> Bool {
        let status = try json(home.platform.run("rotate", "--status", "--json"))
        return status["rotations"]?.elements.contains { $0["open"] == true } ?? false
    }

    /// Killed before the rotation began, or with nothing left to do.
    private static func expectNothingOpen(_ home: RotationHome, _ comment: Comment) throws {
        let status = try json(home.platform.run("rotate", "--status", "--json"))
        guard let last = status["rotations"]?.elements.first else {
            return try home.expect(old, comment)
        }
        #expect(last["outcome"] == "done", comment)
        try home.expect(new, comment)
    }

    /// Both values are still available, and there is no third one.
    private static func expectNothingLost(_ home: RotationHome, _ comment: Comment) throws {
        #expect(home.stored().count == 1, comment)
        #expect([old, new].contains(home.stored()[0]), comment)
        #expect([old, new].contains(try home.revealed()), comment)
        let first = try home.platform.home.revealed("KEY", "--version", "1")
        #expect(first == Array(old.utf8), comment)
    }

    /// Resumes or aborts once the command that superseded zg-env has ended: until then that is
    /// refused.
    private static func proceeded(_ home: RotationHome, _ way: String) throws -> ProgramResult {
        var result = try home.proceed(way)
        for _ in 0..<100 where result.status == 5 && result.error.contains("still running") {
            usleep(100_000)
            result = try home.proceed(way)
        }
        return result
    }

    private static func resume(_ home: RotationHome, _ comment: Comment) throws {
        guard try isOpen(home) else { return try expectNothingOpen(home, comment) }
        let result = try proceeded(home, "--resume")
        #expect(result.end == .exited(0), "\(comment) \(result.error)")
        #expect(try JSONDocument(result.standardOutput)["outcome"] == "done", comment)
        try home.expect(new, comment)
        #expect(home.read("revoke").hasSuffix("revoke \(old) \(new)\n"), comment)
    }

    private static func abort(_ home: RotationHome, _ comment: Comment) throws {
        guard try isOpen(home) else { return try expectNothingOpen(home, comment) }
        let hadApplied = home.read("apply") != ""
        let result = try proceeded(home, "--abort")
        #expect(result.end == .exited(0), "\(comment) \(result.error)")
        #expect(try JSONDocument(result.standardOutput)["outcome"] == "rolled_back", comment)
        try home.expect(old, comment)
        if hadApplied { #expect(home.read("apply").hasSuffix("undo \(old) \(new)\n"), comment) }
    }

    @Test(.timeLimit(.minutes(30)), arguments: [true, false])
    func `killed before and after each request, it can be finished`(isDone: Bool) throws {
        let count = try Self.requestCount()
        var random = ProofRandom(isDone ? 47 : 48)
        let numbers = Proof.sample(Array(0..<count), short: 4, using: &random)
        for number in numbers {
            // Each request gets both ways out, one after it took effect and one before.
            let isResumed = number.isMultiple(of: 2) == isDone
            let home = try RotationHome()
            let result = try Self.killed(home, atRequest: number, isDone: isDone)
            let comment: Comment =
                "request \(number) of \(count), done: \(isDone), \(result.end) \(result.error)"
            #expect(result.end == .signalled(SIGKILL), comment)
            try Self.expectNothingLost(home, comment)
            try (isResumed ? Self.resume : Self.abort)(home, comment)
            #expect(try !Self.isOpen(home), comment)
        }
        print("proof: killed at \(numbers.count) requests")
        #expect(numbers.count == Proof.count(short: 4, full: count))
    }

    @Test(arguments: ["apply", "check", "revoke"])
    func `killed in a user's command, it can be finished`(step: String)
        throws
    {
        for isDone in [true, false] {
            for ending in [Self.resume, Self.abort] {
                let home = try RotationHome()
                // The parent is zg-env.
                let kill = "kill -9 $PPID; sleep 0.1; "
                func command(_ name: String) -> String {
                    let work =
                        name == "check" ? "cat >\(home.path("checked"))" : home.recorder(name)
                    guard name == step else { return work }
                    let once =
                        "if ! test -e \(home.path("killed")); then touch \(home.path("killed")); \(kill) exit 1; fi; "
                    return isDone ? "\(work); \(once)" : "\(once)\(work)"
                }
                let result = try home.rotate(
                    "--apply", command("apply"), "--check", command("check"), "--revoke",
                    command("revoke"))
                let comment: Comment = "\(step), done: \(isDone)"
                #expect(result.end == .signalled(SIGKILL), comment)
                try Self.expectNothingLost(home, comment)
                #expect(try Self.isOpen(home), comment)
                try ending(home, comment)
            }
        }
    }

    @Test(arguments: ["fail", "ok"])
    func `killed while reverting, it can be finished`(mode: String) throws {
        // The number of requests is not known beforehand: continues until all have been tried.
        var points = 0
        var random = ProofRandom(mode == "ok" ? 49 : 50)
        let step = Proof.count(short: 4, full: 1)
        for number in stride(from: Int.random(in: 0..<step, using: &random), to: 200, by: step) {
            let home = try RotationHome()
            home.platform.server.setBuild(try #require(BuildMode(mode)))
            let arguments = [
                "--apply", home.recorder("apply"),
                "--check", mode == "ok" ? "test \"$(cat)\" = '\(Self.old)'" : "true",
            ]
            // Only what follows the first creation of a deployment.
            home.platform.server.setFaults(
                ["POST /v13/deployments* slow:0 x1"].compactMap { Fault($0) })
            let runner = home.platform.signalled(home.runner(arguments), by: SIGKILL) { requests in
                let made = requests.firstIndex {
                    $0.method == "POST" && $0.path.hasPrefix("/v13/deployments")
                }
                return made.map { requests.endIndex - $0 > number } ?? false
            }
            let result = try runner.run()
            if result.end == .exited(10) { break }
            #expect(result.end == .signalled(SIGKILL))
            points += 1
            let comment: Comment = "\(mode), \(number)"
            try Self.expectNothingLost(home, comment)
            if try Self.isOpen(home) {
                let again = try home.proceed(number.isMultiple(of: 2) ? "--abort" : "--resume")
                let status: Int32 = number.isMultiple(of: 2) ? 0 : 10
                #expect(again.end == .exited(status), "\(comment) \(again.error)")
            }
            try home.expect(Self.old, comment)
        }
        print("proof: killed at \(points) requests of the way back")
        #expect(points >= Proof.count(short: 1, full: 8))
    }
}
