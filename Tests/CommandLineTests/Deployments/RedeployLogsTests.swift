internal import JSON
import Sandbox
import TestSupport
import Testing

/// What `redeploy` can rebuild, and how it shows the build.
@Suite("Redeploying with the log")
struct RedeployLogsTests {
    @Test func `the log goes to stderr, the URL to stdout`() throws {
        let platform = try SandboxHome(buildSeconds: 1)
        platform.server.setBuildLog((0..<50).map { "line \($0)" })
        let result = done(try platform.run("redeploy", "-p", "web", "--logs", "--yes"))
        let lines = result.error.split(separator: "\n").filter { $0.contains("  line ") }
        #expect(lines.count == 50)
        #expect(result.output.hasPrefix("https://web-") && !result.output.contains("line"))
        let id = try platform.deployments()[0]
        #expect(try platform.current() == id)

        platform.server.setBuild(.fail)
        let failing = try platform.run("redeploy", "-p", "web", "--logs", "--yes")
        #expect(failing.status == 9 && failing.error.contains("log above"), "\(failing.error)")
        #expect(failing.error.contains("! Error: Command \"npm run build\" exited with 1"))
        // It ends on time, log or not.
        platform.server.setBuild(.ok)
        let slow = try SandboxHome(buildSeconds: 60)
        let late = try slow.run("redeploy", "-p", "web", "--logs", "--timeout", "2s", "--yes")
        #expect(late.status == 7 && late.error.contains("after 2s"), "\(late.error)")
        #expect(late.duration < .seconds(40))
        let both = try failedAsJSON(
            slow.run("redeploy", "-p", "web", "--logs", "--yes", "--json"), 2, "usage")
        #expect(both.contains("deployment logs"))
    }

    @Test func `an ignored build is reported as such`() throws {
        let platform = try SandboxHome()
        platform.server.setBuild(.ignored)
        let result = try platform.run("redeploy", "-p", "web", "--wait", "--yes")
        #expect(result.status == 9)
        #expect(result.error.contains("Ignored Build Step setting"))
        #expect(result.error.contains("Another build of this commit would be canceled too"))
        // One that a user cancels is not.
        let other = try SandboxHome(buildSeconds: 60)
        var runner = other.runner(["redeploy", "-p", "web", "--wait", "--yes"])
        runner.script = [
            (
                .error(": queued"),
                .call { _, _ in
                    let id = (try? other.deployments())?.first ?? ""
                    _ = try? other.teammate.send("PATCH", "/v12/deployments/\(id)/cancel")
                }
            )
        ]
        let cancelled = try runner.run()
        #expect(cancelled.status == 9 && cancelled.error.contains("a user or Vercel"))
    }

    @Test func `a deployment of uploaded files is rebuilt, also with the cache`() throws {
        let platform = try SandboxHome()
        let made = try platform.teammate.send(
            "POST", "/v13/deployments",
            ["name": "web", "target": "production", "files": []])
        let id = try #require(made["id"]?.string)
        platform.server.advanceClock(bySeconds: 5)
        for (options, words) in [
            ([], "skipping build cache"), (["--with-cache"], "Restored build cache"),
        ] {
            let report = try json(
                platform.runner(["redeploy", id, "--wait", "--yes", "--json"] + options).run())
            #expect(report["state"] == "READY" && report["branch"] == .null)
            let log = done(
                try platform.run("deployment", "logs", try #require(report["id"]?.text)))
            #expect(log.output.contains(words))
        }
        let writes = try platform.writes {
            let text = try failedAsJSON(
                platform.run("redeploy", id, "--latest-commit", "--yes", "--json"), 2, "usage")
            #expect(text.contains("uploaded files"))
        }
        #expect(writes == [])
    }

    @Test func `a refusal by Vercel has a hint`() throws {
        let platform = try SandboxHome()
        for (fault, status, code, words) in [
            ("409", 5, "conflict", "try again"), ("422", 5, "conflict", "too old"),
            ("400", 5, "conflict", "too old"), ("410", 1, "failed", "too old"),
            ("403", 6, "unauthorized", ""), ("402", 1, "failed", "billing"),
        ] {
            try platform.setFaults("POST */deployments \(fault)")
            let text = try failedAsJSON(
                platform.run("redeploy", "-p", "web", "--yes", "--json"), Int32(status), code)
            #expect(text.contains(words), "\(fault): \(text)")
        }
    }
}
