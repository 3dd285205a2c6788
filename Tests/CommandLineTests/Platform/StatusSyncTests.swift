internal import JSON
import Sandbox
import TestSupport
import Testing

/// What `status` reports about Vercel.
@Suite("status and Vercel")
struct StatusSyncTests {
    private func keys(_ status: JSONDocument, _ list: String) -> [String] { status.keys(list) }

    @Test func `a long list is sorted and cut`() throws {
        let platform = try SandboxHome()
        let keys = (10..<22).map { "KEY_\($0)" }.shuffled()
        done(
            try platform.run(
                "import", "-", "-p", "web",
                input: .text(keys.map { "\($0)=1\n" }.joined())))
        try platform.pushed()
        for key in keys { try platform.change(key, ["value": "2"]) }
        let text = done(try platform.run("status", "-p", "web", "--refresh")).output
        let shown = (10..<20).map {
            "  web  KEY_\($0)  production, preview, development\n"
        }.joined()
        #expect(
            text.contains(
                "Changed on Vercel:\n\(shown)  and 2 more (all of them: zg-env status --json)\n"),
            "\(text)")
    }

    @Test func `a variable that Vercel has too and was never pulled is a conflict`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "mine", "-t", "production")
        try platform.set("NEW", "1")
        func commands() throws -> [String] {
            try json(platform.run("status", "--json"))["remedies"]?.elements
                .compactMap { $0["command"]?.text } ?? []
        }
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "KEY", "value": "theirs", "type": "encrypted", "target": ["production"]])
        _ = try failedReport(platform.run("push", "-p", "web", "--yes", "--json"), 5, "conflict")
        #expect(
            try commands() == [
                "zg-env pull KEY -p web --force", "zg-env push KEY -p web --force",
                "zg-env push -p web",
            ])
        done(try platform.run("pull", "KEY", "-p", "web", "--force", "--yes"))
        let left = try commands()
        #expect(!left.contains { $0.contains("KEY") }, "\(left)")
    }

    @Test func `each sync state is reported with the command that resolves it`() throws {
        let platform = try SandboxHome()
        for key in ["AHEAD", "BEHIND", "BOTH", "GONE", "SAME", "LOST"] {
            try platform.set(key, "1")
        }
        try platform.pushed()
        let fresh = try json(platform.run("status", "--json"))
        for list in ["ahead", "behind", "diverged", "unreadable", "rotationDue"] {
            #expect(fresh[list] == [], "\(list)")
        }
        // Pushed after production was built.
        #expect(fresh["notLive"]?.elements.count == 6)
        #expect(
            fresh["remedies"]?.elements.map { $0["command"] } == ["zg-env redeploy -p web"])
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        #expect(try json(platform.run("status", "--json"))["remedies"] == [])

        try platform.set("AHEAD", "2")
        try platform.set("NEW", "1")
        try platform.set("BOTH", "2")
        done(try platform.run("rm", "GONE", "-p", "web", "--yes"))
        for key in ["BEHIND", "BOTH"] {
            _ = try platform.teammate.send(
                "PATCH", "/v9/projects/web/env/\(try platform.id(key))", ["value": "3"])
        }
        _ = try platform.teammate.send(
            "DELETE", "/v9/projects/web/env/\(try platform.id("LOST"))")
        let requests = try platform.requests {
            // It sends no request: changes on Vercel are not known yet.
            let status = try json(platform.run("status", "--json"))
            #expect(keys(status, "ahead") == ["AHEAD", "BOTH", "GONE", "NEW"])
            #expect(keys(status, "behind") == [])
        }
        #expect(requests == [])
        let status = try json(platform.run("status", "-p", "web", "--refresh", "--json"))
        #expect(keys(status, "ahead") == ["AHEAD", "GONE", "NEW"])
        #expect(keys(status, "behind") == ["BEHIND", "LOST"])
        #expect(keys(status, "diverged") == ["BOTH"])
        #expect(status["ahead"]?.elements.map { $0["deleted"] } == [false, true, false])
        let commands = [
            "ahead": "zg-env push -p web", "behind": "zg-env pull -p web",
            "diverged": "zg-env pull BOTH -p web --force",
        ]
        for (list, command) in commands {
            for entry in status[list]?.elements ?? [] {
                #expect(entry["command"] == .string(command))
                #expect(entry["project"] == "web")
            }
        }
        #expect(
            status["remedies"]?.elements.map { $0["reason"] }
                == ["ahead", "behind", "diverged", "diverged"])
        #expect(status["remedies"]?.elements.first?["variables"] == 3)
        #expect(isTime(status["platform"]?.elements.first?["asOf"]))
        #expect(isTime(status["platform"]?.elements.first?["deployedAt"]))

        let text = done(try platform.run("status")).output
        for line in [
            "Changed on Vercel:\n", "  web  BEHIND  ", "Changed on both sides:\n",
            "What to do:\n", "  zg-env push -p web  (3 not pushed)\n",
            "  zg-env pull -p web  (2 changed on Vercel)\n",
        ] {
            #expect(text.contains(line), "\(line)\n\(text)")
        }
    }

    @Test func `a project that exists only in the vault needs no sync`() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "value"])
        let status = try json(home.run(["status", "--json"]))
        #expect(status["platform"] == [] && status["ahead"] == [] && status["remedies"] == [])
        let text = done(try home.run(["status"])).output
        #expect(!text.contains("What to do"))
        #expect(
            text.contains("Only in this vault: web (send with: zg-env push -p web)\n"), "\(text)")
    }

    @Test func `a project without a production deployment is reported, and not as live`() throws {
        let platform = try SandboxHome()
        done(try platform.run("set", "KEY", "-p", "bare", "-t", "production", input: .text("v")))
        let push = done(try platform.run("push", "-p", "bare", "--yes"))
        #expect(push.error.contains("Not live yet: bare has no production deployment."))
        #expect(!done(try platform.run("status")).output.contains("Not linked"))
        let list = done(try platform.run("list", "-p", "bare")).output
        #expect(list.contains("synced  unknown"), "\(list)")
    }

    @Test func `a locked index reveals nothing of it`() throws {
        let home = try CommandHome.initialised()
        let status = try json(home.run(["status", "--json"], unlocked: false))
        for member in ["platform", "ahead", "behind", "diverged", "unreadable", "remedies"] {
            #expect(status[member] == .null, "\(member)")
        }
    }
}
