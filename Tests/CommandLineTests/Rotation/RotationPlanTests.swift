import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// Unattended rotations: from a plan's file, and when they are due.
@Suite("Rotating with a plan")
struct RotationPlanTests {
    private static let (old, new) = (RotationHome.old, RotationHome.new)

    private func write(_ text: String, _ home: RotationHome) throws -> String {
        try home.platform.home.directory.write(text, to: "plan.json")
    }

    @Test func `each rotation is separate, and the worst exit code wins`() throws {
        let home = try RotationHome()
        for key in ["SECOND", "THIRD"] {
            done(
                try home.platform.run(
                    "set", key, "-p", "web", "-t", "production", "--push", "--yes",
                    input: .text(Self.old)))
        }
        let path = try write(
            """
            {"rotations": [
              {"key": "KEY", "project": "web", "generate": "hex:16", "redeploy": true,
               "targets": ["production"], "apply": "cat >/dev/null", "check": "exit 4",
               "timeout": "1m"},
              {"key": "SECOND", "project": "web", "generate": "uuid", "redeploy": true},
              {"key": "THIRD", "project": "web", "fromCommand": "echo printed"}
            ]}
            """, home)
        done(try home.platform.run("rotate", "--plan", path, "--dry-run", "--json"))
        let (report, message) = try failedReport(
            home.proceed("--plan", path), 11, "needs_attention")
        let items = report["rotations"]?.elements ?? []
        #expect(items.map { $0["key"]?.text } == ["KEY", "SECOND", "THIRD"])
        #expect(items.map { $0["outcome"]?.text } == ["needs_attention", "done", "done"])
        #expect(items[0]["error"]?["code"] == "needs_attention")
        #expect(message.contains("1 of 3 rotations failed"))
        #expect(home.stored() == [Self.old])
        #expect(home.platform.records("THIRD") == ["production=printed"])
        #expect(home.platform.records("SECOND").first?.count == "production=".count + 36)

        let stopping = try RotationHome()
        let plan = try write(
            """
            {"afterFailure": "stop", "rotations": [
              {"key": "NONE", "project": "web", "generate": "hex:16"},
              {"key": "KEY", "project": "web", "generate": "hex:16"}
            ]}
            """, stopping)
        let (stopped, _) = try failedReport(stopping.proceed("--plan", plan), 4, "not_found")
        #expect(stopped["rotations"]?.elements.count == 1)
        try stopping.expect(Self.old)
    }

    @Test func `a mistake in the file is refused before anything is done`() throws {
        let home = try RotationHome()
        let item = #""key": "KEY", "project": "web", "generate": "hex:16""#
        for text in [
            "", "[]", "{}", #"{"rotations": []}"#, #"{"rotations": [{"key": "KEY"}]}"#,
            #"{"rotations": [{\#(item), "value": "x"}]}"#,
            #"{"rotations": [{\#(item), "revoek": "x"}]}"#, #"{"rotations": [{\#(item)}], "x": 1}"#,
            #"{"rotations": [{\#(item), "onFailure": "maybe"}]}"#,
            #"{"rotations": [{\#(item), "timeout": "15"}]}"#,
            #"{"rotations": [{\#(item), "fromCommand": "x"}]}"#,
            #"{"rotations": [{\#(item), "check": "x"}]}"#,
            #"{"rotations": [{\#(item), "checkStatus": 7}]}"#,
            #"{"rotations": [{\#(item), "check": true}]}"#,
            #"{"rotations": [{\#(item), "revoke": false}]}"#,
            #"{"rotations": [{\#(item), "apply": []}]}"#,
            #"{"rotations": [{\#(item), "redeploy": "yes"}]}"#,
            #"{"rotations": [{\#(item), "targets": "production"}]}"#,
            #"{"rotations": [{\#(item), "checkStatus": "204"}]}"#,
            #"{"rotations": [{\#(item), "timeout": 5}]}"#,
            #"{"rotations": [{"key": "KEY", "project": "web", "generate": "hex:1"}]}"#,
        ] {
            let path = try write(text, home)
            let requests = try home.platform.requests {
                try failedAsJSON(home.proceed("--plan", path), 2, "usage")
            }
            #expect(requests == [], "\(text)")
        }
        try home.expect(Self.old)
    }

    @Test func `an option of a new rotation is refused where it would have no effect`() throws {
        let home = try RotationHome()
        let path = try write(
            #"{"rotations": [{"key": "KEY", "project": "web", "generate": "hex:16"}]}"#, home)
        for (action, option) in [
            (["--plan", path], ["--redeploy"]), (["--plan", path], ["--revoke", "true"]),
            (["--plan", path], ["-t", "production"]), (["--plan", path], ["--generate", "uuid"]),
            (["--resume"], ["--timeout", "1m"]), (["--abort"], ["--redeploy"]),
            (["KEY", "--close"], ["--promote"]), (["KEY", "--take-over"], ["--check-schema"]),
            (["--status"], ["--everywhere"]), (["--resume"], ["--exposed-to", "bob"]),
            (["--plan-skeleton", path + ".new", "--exposed-to", "bob"], ["--strict"]),
        ] {
            let message = try failedAsJSON(
                home.platform.runner(["rotate"] + action + option + ["--yes", "--json"]).run(), 2,
                "usage")
            #expect(message.contains(" cannot be used with --"), "\(action) \(option)")
        }
        try home.expect(Self.old)
    }

    @Test func `values printed by a plan's commands get the usual value checks`() throws {
        let home = try RotationHome()
        let path = try write(
            #"{"rotations": [{"key": "KEY", "project": "web", "fromCommand": "printf ' blank'"}]}"#,
            home)
        _ = try failedReport(home.proceed("--plan", path, "--strict"), 2, "usage")
        try home.expect(Self.old)
        done(try home.proceed("--plan", path))
        #expect(home.stored() == [" blank"])
    }

    @Test func `a value with a period is rotated when it is due`() throws {
        let home = try RotationHome()
        let path = try write(
            #"{"onlyWhenDue": true, "rotations": [{"key": "KEY", "project": "web", "generate": "hex:16"}]}"#,
            home)
        func outcome() throws -> String? {
            try json(home.proceed("--plan", path))["rotations"]?.elements.first?["outcome"]?.text
        }
        func due() throws -> Int? {
            try json(home.platform.run("status", "--json"))["rotationDue"]?.elements.count
        }
        #expect(try outcome() == "not_due")
        let set = try json(
            home.platform.run("set", "KEY", "-p", "web", "--rotate-every", "90d", "--json"))
        #expect(set["rotateEverySeconds"] == 7_776_000)
        #expect(try outcome() == "not_due")
        #expect(try due() == 0)
        try home.expect(Self.old)
        done(try home.platform.run("set", "KEY", "-p", "web", "--rotate-every", "1s"))
        usleep(1_100_000)
        #expect(try due() == 1)
        #expect(try outcome() == "done")
        #expect(home.stored() != [Self.old])
        usleep(1_100_000)
        done(try home.platform.run("set", "KEY", "-p", "web", "--rotate-every", "never"))
        #expect(try due() == 0)
        // An added value is included, not skipped.
        done(
            try home.platform.run(
                "set", "KEY", "-p", "web", "--rotate-every", "1s", input: .text("given")))
        #expect(try home.revealed() == "given")
        try failedAsJSON(
            home.platform.run("set", "KEY", "-p", "web", "--rotate-every", "90", "--json"), 2,
            "usage")
    }

    @Test func `it runs as a systemd unit: no terminal, and the passphrase as a credential`()
        throws
    {
        let home = try RotationHome()
        let credentials = try home.platform.home.directory.makeDirectory("credentials")
        try home.platform.home.directory.write(
            CommandHome.passphrase + "\n", to: "credentials/zg-env-passphrase")
        let path = try write(
            #"{"rotations": [{"key": "KEY", "project": "web", "generate": "hex:16", "redeploy": true}]}"#,
            home)
        let runner = home.platform.runner(
            ["rotate", "--plan", path, "--yes", "--json"], unlocked: false,
            environment: ["CREDENTIALS_DIRECTORY": credentials])
        let report = try json(runner.run())
        #expect(report["rotations"]?.elements.first?["outcome"] == "done")
        #expect(home.stored() != [Self.old])
    }
}
