import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// What others may do while a member rotates a value of a shared project.
@Suite("Rotations in groups")
struct GroupRotationTests {
    private let homes: GroupHomes
    private let server: SandboxServer
    private let url: String
    private let token: String
    private var environment: [String: String] { ["ZG_ENV_API_URL": url] }

    /// Alice and Bob share `web`, whose `A` is on Vercel.
    init() throws {
        homes = try GroupHomes(git: false)
        var configuration = SandboxConfiguration()
        configuration.seed = try Seed(json: Array(SandboxHome.seed.utf8))
        server = try SandboxServer(configuration: configuration)
        (url, token) = try server.start()
        try homes.set("alice", "A", "one", "-t", "production", "--type", "encrypted")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        for name in ["alice", "bob"] {
            done(try run(name, "login", input: .text(token + "\n")))
        }
        done(try run("alice", "push", "-p", "web", "--yes"))
        try homes.settle("alice", "bob")
    }

    private func run(
        _ name: String, _ arguments: String..., input: ProgramRunner.Input = .null
    ) throws -> ProgramResult {
        try homes.home(name).runner(arguments, input: input, environment: environment).run()
    }

    private var onVercel: String? {
        server.storedVariables(project: "web")?.first { $0.key == "A" }?.value
    }

    /// A command that waits for a file in the directory of the test.
    private func wait(for file: String) -> String {
        "until test -e '\(homes.directory.path(file))'; do sleep 0.02; done"
    }

    private func touch(_ file: String) -> String { "touch '\(homes.directory.path(file))'" }

    /// Runs commands of both at the same time.
    private func together(_ alice: [String], bob: (String) -> String) throws -> [ProgramResult] {
        var script = try homes.home("bob").wrapped("/bin/sh") { ["-c", bob("'\($0)'")] }
        script.environment.merge(environment) { $1 }
        return try Together.run([
            homes.home("alice").runner(alice, environment: environment), script,
        ])
    }

    @Test func `others change nothing during a rotation, and have its value afterwards`() throws {
        defer { server.stop() }
        let results = try together(
            [
                "rotate", "A", "-p", "web", "--generate", "hex:16", "--yes",
                "--apply", "cat >/dev/null; \(touch("began")); \(wait(for: "tried"))",
            ]
        ) { program in
            """
            \(wait(for: "began")); \(program) sync
            echo x | \(program) set A -p web --raw; echo "set $?"
            \(program) rm A -p web --yes; echo "rm $?"
            echo y | \(program) set B -p web; echo "other $?"
            \(program) rotate A -p web --generate hex:8 --yes; echo "rotate $?"
            \(program) rotate --status -p web
            \(touch("tried"))
            """
        }
        done(results[0])
        let lines = results[1].output.split(separator: "\n").map(String.init)
        for line in ["set 5", "rm 5", "other 0", "rotate 5"] {
            #expect(lines.contains(line), "\(results[1].output)\(results[1].error)")
        }
        #expect(results[1].error.contains("alice is rotating A in web."), "\(results[1].error)")
        #expect(results[1].output.contains("A in web: alice began to rotate it"))
        // Nothing waits for a sync of Alice's.
        done(try run("bob", "sync"))
        let value = try homes.value("alice", "A")
        #expect(value != "one" && onVercel == value)
        #expect(try homes.value("bob", "A") == value)
        try homes.set("bob", "A", "next", "-t", "production")
        done(try run("bob", "push", "A", "-p", "web", "--yes"))
    }

    @Test func `a rotation that was given up is taken over`() throws {
        defer { server.stop() }
        let killed = try run(
            "alice", "rotate", "A", "-p", "web", "--generate", "hex:16", "--yes", "--apply",
            "test -e '\(homes.directory.path("killed"))' || { \(touch("killed")); kill -9 $PPID; }")
        #expect(killed.status == nil)
        done(try run("bob", "sync"))
        failed(
            try homes.home("bob").runner(
                ["set", "A", "-p", "web", "-t", "production"], input: .text("x")
            ).run(), 5, "--take-over")
        let listed = try json(run("bob", "rotate", "--status", "--json"))["colleagues"]
        #expect(listed?.elements.first?["author"] == "alice")
        failed(try run("bob", "rotate", "--take-over"), 2, "KEY")
        failed(try run("bob", "rotate", "B", "-p", "web", "--take-over", "--yes"), 4)
        let plan = try run("bob", "rotate", "A", "-p", "web", "--take-over", "--dry-run")
        #expect(plan.status == 0)
        let taken = try json(
            run("bob", "rotate", "A", "-p", "web", "--take-over", "--yes", "--json"))
        #expect(taken["authors"]?.texts == ["alice"])
        try homes.set("bob", "A", "from bob", "-t", "production")
        done(try run("bob", "sync"))
        // Alice's rotation neither runs on nor undoes anything, and keeps nothing from coming.
        for option in ["--abort", "--resume"] {
            let refused = try run("alice", "rotate", "A", "-p", "web", option, "--yes")
            #expect(refused.status == 5)
            #expect(refused.error.contains("took over"), "\(refused.error)")
        }
        done(try run("alice", "sync"))
        #expect(try homes.value("alice", "A") == "from bob")
        done(try run("alice", "rotate", "A", "-p", "web", "--close", "--yes"))
        done(try run("bob", "sync"))
        #expect(try homes.value("alice", "A") == "from bob")
        #expect(try homes.value("bob", "A") == "from bob")
        #expect(try run("bob", "rotate", "--status").output == "No rotations.\n")
    }

    @Test func `of two rotations that begin at the same time one at most changes anything`() throws
    {
        defer { server.stop() }
        let results = try together(
            [
                "rotate", "A", "-p", "web", "--yes", "--from-command",
                "\(touch("asked")); \(wait(for: "began")); echo two", "--apply", touch("applied"),
            ]
        ) { program in
            """
            \(wait(for: "asked"))
            \(program) rotate A -p web --generate hex:8 --yes --apply 'kill -9 $PPID'
            \(touch("began"))
            """
        }
        failed(results[0], 5, "bob is rotating A in web")
        #expect(!FileManager.default.fileExists(atPath: homes.directory.path("applied")))
        #expect(onVercel == "one")
        #expect(try homes.value("alice", "A") == "one")
        #expect(try run("bob", "rotate", "--status").output.contains("alice") == false)
    }

    @Test func `a rotation that was killed before its announcement makes up for it`() throws {
        defer { server.stop() }
        let aside = homes.directory.path("aside")
        try move(homes.placeDirectory, aside)
        let killed = try run(
            "alice", "rotate", "A", "-p", "web", "--generate", "hex:16", "--yes", "--apply",
            "test -e '\(homes.directory.path("killed"))' || { \(touch("killed")); kill -9 $PPID; exit; }; \(wait(for: "seen"))"
        )
        #expect(killed.status == nil)
        try move(aside, homes.placeDirectory)
        #expect(try run("bob", "rotate", "--status").output == "No rotations.\n")
        let results = try together(["rotate", "A", "-p", "web", "--resume", "--yes"]) { program in
            """
            until \(program) sync >/dev/null && \(program) rotate --status | grep -q alice; do :; done
            \(touch("seen"))
            """
        }
        done(results[0])
        #expect(try homes.value("alice", "A") == onVercel)
    }

    @Test func `a rotation goes on without a place, and says so`() throws {
        defer { server.stop() }
        let aside = homes.directory.path("aside")
        try move(homes.placeDirectory, aside)
        let result = done(
            try run("alice", "rotate", "A", "-p", "web", "--generate", "hex:16", "--yes"))
        // Told several times in the course of a rotation, and said once.
        let said = result.error.split(separator: "\n").filter {
            $0.contains("acme was not notified of this rotation.")
        }
        #expect(said.count == 1, "\(result.error)")
        #expect(try homes.value("alice", "A") == onVercel)
        try move(aside, homes.placeDirectory)
        done(try run("alice", "sync"))
        done(try run("bob", "sync"))
        #expect(try homes.value("bob", "A") == onVercel)
    }
}
