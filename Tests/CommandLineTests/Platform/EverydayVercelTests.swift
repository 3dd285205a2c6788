import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// Common tasks with Vercel: a new project, the next step after a push, and waiting for a build.
@Suite("Everyday tasks on Vercel")
struct EverydayVercelTests {
    private func terminal(
        _ platform: SandboxHome, _ arguments: [String],
        _ script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = []
    ) throws -> ProgramResult {
        var runner = platform.home.terminalRunner(arguments, streams: true, script: script)
        runner.environment["ZG_ENV_API_URL"] = platform.url
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = platform.home.passphrasePath
        return try runner.run()
    }

    @Test func `a new project is created on Vercel, read back, linked and pushed to`() throws {
        let platform = try SandboxHome()
        done(try platform.run("set", "KEY", "-p", "fresh", input: .text("value")))
        let told = try failedAsJSON(
            platform.run("push", "-p", "fresh", "--yes", "--json"), 4, "not_found")
        #expect(told.contains("zg-env project create fresh"), "\(told)")
        let writes = try platform.writes {
            let dry = done(try platform.run("project", "create", "fresh", "--dry-run"))
            #expect(dry.output == "Would create the project fresh on Vercel.\n")
        }
        #expect(writes == [])
        let report = try json(platform.run("project", "create", "fresh", "--json"))
        let seen = try platform.teammate.send("GET", "/v9/projects/fresh")
        #expect(report["platformProjectId"]?.text == seen["id"]?.string)
        #expect(report["projectCreated"] == false)
        let pushed = try json(platform.run("push", "-p", "fresh", "--yes", "--json"))
        #expect(pushed.keys("created") == ["KEY"])
        // A list that was cached a moment ago has it.
        let list = try json(platform.run("project", "list", "--json"))
        #expect(list["projects"]?.elements.contains { $0["name"] == "fresh" } == true)
        try failedAsJSON(platform.run("project", "create", "fresh", "--json"), 5, "conflict")
        // One that only Vercel has is linked, not created.
        let known = try failedAsJSON(
            platform.run("project", "create", "bare", "--json"), 5, "conflict")
        #expect(known.contains("zg-env link bare"), "\(known)")
        for name in ["Web", "a---b", "", "a b"] {
            failed(try platform.run("project", "create", name), 2)
        }
        failed(try platform.run("link", "Not Valid"), 4, "project list")
    }

    @Test func `a team's project is created in the team, and the directory can be linked`() throws {
        let platform = try SandboxHome()
        let made = try terminal(
            platform, ["project", "create", "shop", "--team", "acme", "--as", "store"],
            [(.terminal("Link this directory to store? [Y/n]"), .line(""))])
        #expect(done(made).stepsDone == 1, "\(made.screen)")
        let file = try JSONDocument(platform.home.directory.read("work/.vercel/project.json"))
        #expect(file["orgId"]?.text?.hasPrefix("team_") == true)
        done(try platform.run("set", "KEY", input: .text("value")))
        #expect(try json(platform.run("push", "--yes", "--json")).keys("created") == ["KEY"])
        #expect(try json(platform.run("list", "--json"))["project"] == "store")
    }

    @Test func `a lost response creates one project, and a failure keeps nothing half-linked`()
        throws
    {
        let platform = try SandboxHome()
        try platform.setFaults("POST */projects lost-answer x1")
        done(try platform.run("project", "create", "lost-answer"))
        done(try platform.run("pull", "-p", "lost-answer", "--yes"))
        try platform.setFaults("POST */projects 403 x1")
        try failedAsJSON(
            platform.run("project", "create", "denied", "--json"), 6, "unauthorized")
        let projects = try json(platform.run("projects", "--json"))["projects"]?.elements
        #expect(projects?.contains { $0["name"] == "denied" } == false)
    }

    @Test func `push ends with the next step`() throws {
        let platform = try SandboxHome()
        let next = "Not live yet: zg-env redeploy -p web"
        try platform.set("A", "1", "-t", "production")
        let pushed = done(try terminal(platform, ["push", "-p", "web", "--yes"]))
        let lines = pushed.screen.split(whereSeparator: \.isNewline)
        #expect(lines.last.map(String.init) == next, "\(pushed.screen)")
        #expect(lines.dropLast().last?.contains("A (production)") == true, "\(pushed.screen)")
        // Nothing was sent, or nothing that production has.
        #expect(
            !done(try terminal(platform, ["push", "-p", "web", "--yes"])).screen.contains(next))
        try platform.set("B", "1", "-t", "preview")
        #expect(
            !done(try terminal(platform, ["push", "-p", "web", "--yes"])).screen.contains(next))
        try platform.set("A", "2", "-t", "production")
        let quiet = try terminal(platform, ["push", "-p", "web", "--yes", "--quiet"])
        #expect(!done(quiet).screen.contains("Not live"))
        let set = ["set", "A", "-p", "web", "--generate", "uuid", "--push", "--yes"]
        #expect(done(try terminal(platform, set)).screen.contains(next))
        let live = done(try terminal(platform, set + ["--redeploy"]))
        #expect(!live.screen.contains("Not live"))
    }

    @Test func `waiting for a build shows the elapsed time on a terminal alone`() throws {
        let platform = try SandboxHome(buildSeconds: 2.5)
        let waited = try terminal(platform, ["redeploy", "-p", "web", "--wait", "--yes"])
        let screen = String(decoding: done(waited).terminal, as: UTF8.self)
        #expect(screen.contains("Building… 1 s"), "\(screen)")
        #expect(screen.contains("Building… 2 s"), "\(screen)")
        // Each line of progress is erased before the next line of the result.
        #expect(screen.contains(/\d s\r\x1B\[Kdpl_\w+: ready\r\n/), "\(screen)")
        let piped = done(try platform.run("redeploy", "-p", "web", "--wait", "--yes"))
        #expect(!piped.error.contains("Building…") && !piped.error.contains("\u{1B}"))
        let quiet = try terminal(platform, ["redeploy", "-p", "web", "--wait", "--yes", "-q"])
        #expect(!String(decoding: done(quiet).terminal, as: UTF8.self).contains("Building…"))
    }
}
