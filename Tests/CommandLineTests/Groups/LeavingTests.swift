import Foundation
import Glibc
internal import JSON
import TestSupport
import Testing
import Threads

/// A colleague leaves: what he knows is replaced, with a sandbox and a real PostgreSQL server, until
/// `group exposure` ends with 0, also if the admin's program is killed in every step.
@Suite("A colleague who leaves", .enabled(if: PrivatePostgres.isInstalled, "PostgreSQL"))
struct LeavingTests {
    /// The exit code, the variables that are left, and the members who have not synced since.
    private struct Answer: Equatable {
        var status: Int32?
        var left: [String]
        var silent: [String?]
    }

    private static let keys = [
        "API_KEY", "DATABASE_PASSWORD", "LICENSE_KEY", "MAIL_PASSWORD", "SESSION_KEY",
    ]
    private static let recipe = "postgres-password.sh"

    private let homes: GroupHomes
    private let platform: SandboxHome
    private let database: PrivatePostgres
    private let environment: [String: String]

    /// Alice, an admin, and Bob and Carol share five values of `web`, which are live.
    init() throws {
        homes = try GroupHomes(git: false)
        platform = try SandboxHome(
            seed: SandboxHome.bareSeed, hasVault: false, isLoggedIn: false)
        database = try PrivatePostgres()
        environment = database.environment.merging([
            "ROLE": "app", "DATABASE": "app", "ZG_ENV_API_URL": platform.url,
        ]) { $1 }
        try database.query("CREATE ROLE app LOGIN PASSWORD '\(Self.old("DATABASE_PASSWORD"))'")
        for key in Self.keys {
            // What nobody can read from Vercel is live by its time alone.
            let type = key == "MAIL_PASSWORD" ? "sensitive" : "encrypted"
            try homes.set("alice", key, Self.old(key), "-t", "production", "--type", type)
        }
        try homes.share("alice")
        for name in ["bob", "carol"] { try homes.admit(name, by: "alice") }
        done(try run(["login"], input: platform.token + "\n"))
        done(try run(["push", "-p", "web", "--redeploy", "--yes"]))
        try homes.settle("alice", "bob", "carol")
    }

    private static func old(_ key: String) -> String { "known-to-bob-\(key)" }

    private func runner(_ arguments: [String], input: String? = nil) throws -> ProgramRunner {
        var runner = try homes.home("alice").runner(
            arguments, input: input.map { .text($0) } ?? .null, environment: environment)
        runner.timeLimit = .seconds(120)
        return runner
    }

    private func run(_ arguments: [String], input: String? = nil) throws -> ProgramResult {
        try runner(arguments, input: input).run()
    }

    private func exposure(_ arguments: String...) throws -> Answer {
        let result = try run(["group", "exposure", "bob", "--json"] + arguments)
        let found = try JSONDocument(result.standardOutput)
        return Answer(
            status: result.status,
            left: (found["variables"]?.elements ?? []).filter { $0["isLeft"] == true }
                .compactMap { $0["key"]?.text }.sorted(),
            silent: (found["silent"]?.elements ?? []).filter { $0["reason"]?.text == nil }
                .map { $0["name"]?.text })
    }

    // MARK: Kills

    /// Runs what `next` returns until it ends by itself: killed at first, and each time later. Nil: all
    /// was done when it was killed.
    private func finish(
        _ kills: inout Kills, _ next: () throws -> ProgramRunner?
    ) throws {
        var delay = kills.first()
        while let runner = try next() {
            let result = try kills.run(runner, after: delay)
            if result.signal == SIGKILL, !result.timedOut {
                delay = kills.later(delay)
                continue
            }
            // The command of the rotation that was killed has yet to end.
            if result.status == 5, result.error.contains("still running") {
                usleep(50_000)
                continue
            }
            // It was published before the kill, and recorded here only now: `next` looks again.
            if kills.count > 0, result.status == 4, result.error.contains("already removed") {
                continue
            }
            #expect(result.end == .exited(0), "\(kills.comment) \(result.error)")
            return
        }
    }

    private func isActive(_ name: String) throws -> Bool {
        try homes.group("alice")["members"]?.elements
            .first { $0["name"]?.text == name }?["isActive"] == true
    }

    private func rotate(_ key: String, _ kills: inout Kills, _ options: String...) throws {
        try finish(&kills) {
            let all = try JSONDocument(run(["rotate", "--status", "--json"]).standardOutput)
            let mine = all["rotations"]?.elements.first { $0["key"]?.text == key }
            if mine?["open"] == true {
                return try runner(["rotate", key, "-p", "web", "--resume", "--yes"])
            }
            guard mine?["outcome"] != "done" else { return nil }
            return try runner(["rotate", key, "-p", "web", "--redeploy", "--yes"] + options)
        }
    }

    private func replace(_ key: String, _ kills: inout Kills) throws {
        try finish(&kills) {
            try runner(
                [
                    "set", key, "-p", "web", "-t", "production", "--raw", "--push", "--redeploy",
                    "--yes",
                ], input: "new-\(key)")
        }
    }

    // MARK: The story

    private func leave(_ kills: inout Kills) throws {
        // Carol does not know yet that Bob leaves.
        try homes.set("carol", "API_KEY", "written-by-carol", "-t", "production")
        try finish(&kills) {
            try isActive("bob") ? runner(["group", "remove", "bob", "--yes"]) : nil
        }
        #expect(
            try exposure() == Answer(status: 1, left: Self.keys, silent: ["carol"]), kills.comment)

        let command = "sh \(RotationDatabaseTests.recipes)/\(Self.recipe)"
        let check = try RotationDatabaseTests.check(
            platform, Self.recipe, of: "DATABASE_PASSWORD")
        try rotate(
            "DATABASE_PASSWORD", &kills, "--generate", "base64:30", "--apply", command, "--check",
            check, "--revoke", command)
        try rotate("SESSION_KEY", &kills, "--generate", "hex:32")
        try replace("API_KEY", &kills)
        try replace("MAIL_PASSWORD", &kills)
        try finish(&kills) { try runner(["sync"]) }
        #expect(
            try exposure()
                == Answer(status: 1, left: ["LICENSE_KEY"], silent: ["carol"]), kills.comment)

        try replace("LICENSE_KEY", &kills)
        try finish(&kills) { try runner(["sync"]) }
        #expect(try exposure() == Answer(status: 1, left: [], silent: ["carol"]), kills.comment)
        let report = homes.directory.path("bob.json")
        try finish(&kills) {
            try runner([
                "group", "exposure", "bob", "--accept-silent", "carol", "--reason", "asked her",
                "--report", report, "--force",
            ])
        }
        #expect(try exposure() == Answer(status: 0, left: [], silent: []), kills.comment)
        done(try homes.run("carol", "verify", "--report", report))
        try expectReplaced(kills.comment)

        // What Carol stored arrives.
        done(try homes.run("carol", "sync"))
        try finish(&kills) { try runner(["sync"]) }
        #expect(
            try exposure() == Answer(status: 1, left: ["API_KEY"], silent: []), kills.comment)
    }

    /// The vault, Vercel and the database have the new values, and only those.
    private func expectReplaced(_ comment: Comment) throws {
        for key in Self.keys {
            let value = try homes.value("alice", key)
            #expect(value != Self.old(key), comment)
            let records = platform.records(key)
            #expect(records == ["production=\(value)"], comment)
        }
        #expect(
            try database.accepts("app", homes.value("alice", "DATABASE_PASSWORD")), comment)
        #expect(try !database.accepts("app", Self.old("DATABASE_PASSWORD")), comment)
    }

    @Test func `exposure ends with 0 once all is live, and a late value opens it again`() throws {
        var kills = Kills(isKilling: false, stream: 0)
        try leave(&kills)
    }

    /// With ZG_ENV_PROOF=full more often.
    @Test(
        .serialized, .timeLimit(.minutes(30)),
        arguments: 0..<UInt64(Proof.count(short: 1, full: 20))
    )
    func `killed in every step and continued, it ends the same`(number: UInt64) throws {
        var kills = Kills(isKilling: true, stream: 300 + number)
        try leave(&kills)
        print("proof: an admin was killed \(kills.count) times while a colleague left")
        #expect(kills.count >= 8, kills.comment)
    }
}

/// Kills programs at random times.
private struct Kills {
    let isKilling: Bool
    private(set) var count = 0
    private var random: ProofRandom

    init(isKilling: Bool, stream: UInt64) {
        (self.isKilling, random) = (isKilling, ProofRandom(stream))
    }

    var comment: Comment { "\(random.seedText), killed \(count) times" }

    /// The time before the first kill of a step, in microseconds: the test's input, not its
    /// synchronization.
    mutating func first() -> UInt32 { .random(in: 1_000...100_000, using: &random) }

    mutating func later(_ delay: UInt32) -> UInt32 {
        UInt32(Double(delay) * Double.random(in: 1.3...2.2, using: &random)) + 10_000
    }

    /// Runs a program, which is killed after `delay` unless it has ended by then.
    mutating func run(_ runner: ProgramRunner, after delay: UInt32) throws -> ProgramResult {
        guard isKilling else { return try runner.run() }
        var runner = runner
        let hasEnded = Monitor(false)
        runner.script = [
            (
                .now,
                .call { process, _ in
                    Thread.detachNewThread {
                        usleep(delay)
                        hasEnded.look { if !$0 { kill(process, SIGKILL) } }
                    }
                }
            )
        ]
        let result = try runner.run()
        hasEnded.look { $0 = true }
        if result.signal == SIGKILL, !result.timedOut { count += 1 }
        return result
    }
}
