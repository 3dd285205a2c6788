import Glibc
import JSON
import Sandbox
import TestSupport
import Testing

/// Which deployment is rebuilt, and how its end is reported.
@Suite("Redeploying")
struct RedeployTests {
    private func redeploy(
        _ platform: SandboxHome, _ arguments: String..., environment: [String: String] = [:]
    ) throws -> ProgramResult {
        try platform.runner(
            ["redeploy", "--yes", "--json"] + arguments, environment: environment
        ).run()
    }

    /// Returns body and path of the last request that created a deployment.
    private func lastCreation(
        _ platform: SandboxHome
    ) throws -> (path: String, body: JSONValue) {
        let request = try #require(
            platform.server.requests.last {
                $0.method == "POST" && $0.path.hasPrefix("/v13/deployments")
            })
        return (request.path, try #require(request.body))
    }

    @Test func `it rebuilds the target's newest, or one by id, host name or URL`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        try platform.pushed()
        let seeded = try platform.deployments()
        let (production, preview) = (seeded[0], seeded[1])

        let first = try json(redeploy(platform, "-p", "web"))
        #expect(first["target"] == "production")
        #expect(first["current"] == false)
        #expect(first["previous"] == .string(production))
        #expect(try lastCreation(platform).body["deploymentId"] == .string(production))
        #expect(try lastCreation(platform).path.contains("forceNew=1"))
        #expect(try !lastCreation(platform).path.contains("withCache"))
        #expect(try lastCreation(platform).body["withLatestCommit"] == nil)
        let id = try #require(first["id"]?.text)
        #expect(platform.server.builtVariables(deployment: id)?["KEY"] == "value")
        let host = try #require(first["url"]?.text).dropFirst("https://".count)

        let other = try json(redeploy(platform, "-p", "web", "-t", "preview", "--wait"))
        #expect(other["target"] == "preview")
        #expect(other["state"] == "READY")
        #expect(other["current"] == false)
        #expect(other["branch"] == "feature")
        #expect(try lastCreation(platform).body["deploymentId"] == .string(preview))
        #expect(try lastCreation(platform).body["target"] == nil)

        for name in [id, String(host), "https://\(host)", "https://\(host)/path?x=1"] {
            let result = try json(
                redeploy(platform, name, "--with-cache", "--latest-commit"))
            #expect(result["target"] == "production")
            let (path, body) = try lastCreation(platform)
            #expect(body["deploymentId"] == .string(id))
            #expect(path.contains("withCache=1"))
            #expect(body["withLatestCommit"] == true)
        }
        try failedAsJSON(redeploy(platform, "dpl_none"), 4, "not_found")
        try failedAsJSON(redeploy(platform, "-p", "bare"), 4, "not_found")
        try failedAsJSON(redeploy(platform, "-p", "web", "-t", "qa"), 4, "not_found")
        try failedAsJSON(redeploy(platform, "-p", "web", "-t", "development"), 2, "usage")
        try failedAsJSON(redeploy(platform, "-p", "nowhere"), 4, "not_found")

        // A custom environment: from a preview, and then from its own deployment.
        let custom = try json(redeploy(platform, preview, "-t", "qa", "--wait"))
        #expect(custom["target"] == "qa")
        try platform.set("ONLY_QA", "1", "-t", "qa")
        try platform.pushed()
        let again = try json(redeploy(platform, "-p", "web", "-t", "qa", "--wait"))
        #expect(again["target"] == "qa")
        let built = try platform.server.builtVariables(deployment: #require(again["id"]?.text))
        #expect(built == ["ONLY_QA": "1"])
    }

    @Test(
        arguments: [
            ("ok", 0, "READY", []), ("keeps-old-env", 0, "READY", []),
            ("alias-late:1", 0, "READY", []),
            ("fail", 9, "ERROR", ["npm run build"]), ("ignored", 9, "CANCELED", ["canceled"]),
            ("blocked", 9, "BLOCKED", ["blocked"]),
            ("alias-error", 9, "READY", ["built but not live", "aliases could not be assigned"]),
            ("staged", 9, "READY", ["built but not live", "deployment promote dpl_"]),
        ] as [(String, Int32, String, [String])])
    func `waiting ends with the build's result`(
        mode: String, status: Int32, state: String, words: [String]
    ) throws {
        let platform = try SandboxHome()
        let before = try platform.current()
        platform.server.setBuild(try #require(BuildMode(mode)))
        let result = try redeploy(platform, "-p", "web", "--wait")
        #expect(result.status == status, "\(result.error)")
        let report = try JSONDocument(result.standardOutput)
        #expect(report["state"] == .string(state))
        #expect(report["previous"]?.text == before)
        #expect(report["current"] == .bool(status == 0))
        if status == 0 {
            #expect(result.error == "")
            #expect(try platform.current() == report["id"]?.text)
        } else {
            let error = try JSONDocument(result.standardError)["error"]
            #expect(error?["code"] == "deployment_failed")
            let text = (error?["message"]?.text ?? "") + " " + (error?["hint"]?.text ?? "")
            for word in words { #expect(text.contains(word), "\(text)") }
            #expect(try platform.current() == before)
        }
    }

    @Test("USE-D6: redeploy says what is not pushed, in the plan, the dry run and the result")
    func notPushed() throws {
        let platform = try SandboxHome()
        try platform.set("PUSHED", "value")
        try platform.set("CHANGED", "old")
        try platform.set("GONE", "value")
        try platform.pushed()
        #expect(try json(redeploy(platform, "-p", "web", "--dry-run"))["notPushed"] == [])
        try platform.set("CHANGED", "new")
        try platform.set("ADDED", "value")
        done(try platform.run("rm", "GONE", "-p", "web", "--yes"))
        let words = "3 variables are not pushed: ADDED, CHANGED, GONE (zg-env push -p web)"
        let plan = try platform.run("redeploy", "-p", "web", "--dry-run")
        #expect(done(plan).output.contains(words), "\(plan.output)")
        let planned = try json(redeploy(platform, "-p", "web", "--dry-run"))
        #expect(planned["notPushed"] == ["ADDED", "CHANGED", "GONE"])
        let text = done(try platform.run("redeploy", "-p", "web", "--yes"))
        #expect(text.error.contains("warning: \(words)"), "\(text.error)")
        let made = try json(redeploy(platform, "-p", "web"))
        #expect(made["notPushed"] == ["ADDED", "CHANGED", "GONE"])
        #expect(made["warnings"]?.elements.first?["code"] == "not-pushed")
        // A push that redeploys says it of what it left out.
        let one = try json(
            platform.run(
                "push", "ADDED", "-p", "web", "--redeploy", "--yes", "--json"))
        #expect(one["deployment"]?["notPushed"] == ["CHANGED", "GONE"], "\(one)")
    }

    @Test func `a timeout leaves the deployment alone`() throws {
        let platform = try SandboxHome(buildSeconds: 60)
        let result = try redeploy(platform, "-p", "web", "--wait", "--timeout", "2s")
        #expect(result.status == 7)
        #expect(result.duration < .seconds(40))
        let report = try JSONDocument(result.standardOutput)
        #expect(report["state"] == "QUEUED")
        let message = try JSONDocument(result.standardError)["error"]?["message"]?.text ?? ""
        #expect(message.contains("QUEUED") && message.contains("2s"), "\(message)")
        platform.server.advanceClock(bySeconds: 120)
        #expect(try platform.current() == report["id"]?.text)
        try failedAsJSON(
            redeploy(platform, "-p", "web", "--wait", "--timeout", "2"), 2, "usage")
    }

    @Test func `a timeout without --wait is refused`() throws {
        let platform = try SandboxHome(buildSeconds: 60)
        let preview = try #require(
            try platform.deployments().first { try platform.current() != $0 })
        let writes = try platform.writes {
            let text = try failedAsJSON(
                redeploy(platform, "-p", "web", "--timeout", "5s"), 2, "usage")
            #expect(text.contains("--wait"))
            // A promotion that builds.
            try failedAsJSON(
                platform.run(
                    "deployment", "promote", preview, "--timeout", "5s", "--yes", "--json"), 2,
                "usage")
        }
        #expect(writes == [])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal while it waits names the new deployment`(number: Int32) throws {
        let platform = try SandboxHome(buildSeconds: 60)
        for options in [["--json"], [], ["--quiet"]] {
            let result = try platform.signalled(
                platform.runner(["redeploy", "-p", "web", "--wait", "--yes"] + options),
                by: number, at: "GET /v13/deployments/"
            ).run()
            #expect(result.end == .received(number), "\(result.end) \(result.error)")
            #expect(result.output == "")
            let id = try #require(try platform.deployments().first)
            switch options {
            case ["--json"]:
                let error = try JSONDocument(result.standardError)["error"]
                #expect(error?["code"] == "interrupted")
                #expect(error?["message"]?.text?.contains(id) == true, "\(result.error)")
                #expect(error?["hint"]?.text?.contains("deployment show \(id)") == true)
            default: #expect(result.error.contains("deployment show \(id)"), "\(result.error)")
            }
        }
    }

    @Test func `a token in the environment needs no vault`() throws {
        let platform = try SandboxHome(hasVault: false, isLoggedIn: false)
        let token = ["VERCEL_TOKEN": platform.token]
        let result = try json(
            redeploy(platform, "-p", "web", "--wait", environment: token))
        #expect(result["current"] == true)
        let list = try json(platform.run("project", "list", "--json", environment: token))
        #expect(list["projects"]?.elements.map { $0["name"] } == ["bare", "web"])
        let text = done(
            try platform.run("redeploy", "-p", "web", "--wait", "--yes", environment: token))
        #expect(text.output.hasPrefix("https://web-"))
        #expect(text.error.contains(": ready") && text.error.contains(" is live."), "\(text.error)")
        try failedAsJSON(redeploy(platform, "-p", "web"), 6, "unauthorized")
        try failedAsJSON(
            redeploy(
                platform, "-p", "web", environment: ["VERCEL_TOKEN": "wrongwrongwrongwrong"]), 6,
            "unauthorized")
        let team = try json(
            platform.run("project", "list", "--team", "acme", "--json", environment: token))
        #expect(team["projects"]?.elements.map { $0["name"] } == ["api"])
        let inTeam = try json(
            redeploy(platform, "-p", "api", "--team", "acme", "--wait", environment: token))
        #expect(inTeam["current"] == true)
        #expect(throws: (any Error).self) { try platform.home.vaultBytes() }
        // Nor a home directory, which a system unit lacks.
        let homeless = token.merging(
            ["HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "", "XDG_CACHE_HOME": ""]
        ) { $1 }
        let id = try #require(inTeam["id"]?.text)
        for arguments in [
            ["project", "list"], ["deployment", "list", "-p", "web"], ["deployment", "show", id],
            ["redeploy", "-p", "web", "--wait", "--yes"],
        ] {
            done(try platform.runner(arguments, environment: homeless).run())
        }
        let vault = try platform.run("push", "-p", "web", "--yes", environment: homeless)
        failed(vault, 2, "home directory")
    }

    @Test func `--offline sends nothing`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        let requests = try platform.requests {
            for arguments in [
                ["redeploy", "-p", "web", "--yes"], ["push", "-p", "web", "--yes"],
                ["project", "list"], ["link", "web"],
            ] {
                let result = try platform.runner(arguments + ["--offline", "--json"]).run()
                try failedAsJSON(result, 7, "unavailable")
            }
            let login = try platform.run("login", "--offline", input: .text(platform.token))
            failed(login, 7)
        }
        #expect(requests == [])
    }

    @Test func `transient failures are retried, and one deployment is created`() throws {
        for request in [
            "GET /v9/projects/prj_*", "GET /v6/deployments", "POST /v13/deployments",
            "GET /v13/deployments/*",
        ] {
            let platform = try SandboxHome()
            try platform.set("KEY", "value")
            try platform.pushed()
            let before = try platform.deployments().count
            let faults = ["429", "lost-answer", "slow:0.2"]
            platform.server.setFaults(
                try faults.map { try #require(Fault("\(request) \($0) x1")) })
            let report = try json(redeploy(platform, "-p", "web", "--wait"))
            #expect(report["state"] == "READY", "\(request)")
            #expect(try platform.current() == report["id"]?.text)
            #expect(try platform.deployments().count == before + 1, "\(request)")
        }
    }

    @Test func `lasting failures are reported, and the command can be repeated`() throws {
        let cases = [
            ("GET /v9/projects/prj_*", "500", 7), ("GET /v6/deployments", "html", 7),
            ("POST /v13/deployments", "500", 7), ("POST /v13/deployments", "reset", 7),
            ("POST /v13/deployments", "challenge", 6), ("POST /v13/deployments", "429:600", 7),
            ("GET /v13/deployments/*", "500", 7), ("GET /v13/deployments/*", "401", 6),
        ]
        let platforms = try cases.map { entry in
            let platform = try SandboxHome()
            try platform.set("KEY", "value")
            try platform.pushed()
            try platform.setFaults("\(entry.0) \(entry.1)")
            return platform
        }
        let results = try Together.run(
            platforms.map {
                $0.runner([
                    "redeploy", "-p", "web", "--wait", "--timeout", "12s", "--yes", "--json",
                ])
            })
        for ((entry, platform), result) in zip(zip(cases, platforms), results) {
            let comment: Comment = "\(entry): \(result.output)\(result.error)"
            #expect(result.status == Int32(entry.2), comment)
            platform.server.setFaults([])
            let made = try platform.deployments().count - 2
            if entry.0.hasPrefix("GET /v13") {
                // It was created, and the error says what is known about it.
                #expect(made == 1, comment)
                let report = try JSONDocument(result.standardOutput)
                #expect(report["id"]?.text == (try platform.deployments().first), comment)
                #expect(result.error.contains("was created"), comment)
            } else {
                #expect(made == 0, comment)
                #expect(result.output == "", comment)
            }
            let again = try json(redeploy(platform, "-p", "web", "--wait"))
            #expect(again["current"] == true, comment)
        }
    }

    @Test func `a change is live once production was built after it`() throws {
        let platform = try SandboxHome()
        func live(_ key: String) throws -> JSONDocument? {
            let list = try json(platform.run("list", key, "-p", "web", "--json"))
            return list["variables"]?.elements.first?["live"]
        }
        try platform.set("KEY", "1")
        try platform.set("PREVIEW", "1", "-t", "preview")
        #expect(try live("KEY") == .null)
        try platform.pushed()
        #expect(try live("KEY") == false)
        #expect(try live("PREVIEW") == .null)
        let status = try json(platform.run("status", "--json"))
        #expect(status["notPushed"] == [])
        #expect(status["notLive"]?.elements.map { $0["key"] } == ["KEY"])
        try json(redeploy(platform, "-p", "web", "--wait")).expectMember("current", true)
        #expect(try live("KEY") == true)
        try platform.set("KEY", "2")
        #expect(try live("KEY") == false)
        let ahead = try json(platform.run("status", "--json"))
        #expect(ahead["notPushed"]?.elements.map { $0["key"] } == ["KEY"])
        try platform.pushed()
        #expect(try live("KEY") == false)
        // A failed build makes nothing live.
        platform.server.setBuild(.fail)
        #expect(try redeploy(platform, "-p", "web", "--wait").status == 9)
        #expect(try live("KEY") == false)
    }

    @Test(arguments: [false, true])
    func `an outage is reported once and waited out`(isQuiet: Bool) throws {
        let platform = try SandboxHome()
        // Two reads fail, after five requests each.
        try platform.setFaults("GET /v13/deployments/* reset x10")
        let arguments = ["redeploy", "-p", "web", "--yes", "--wait", "--timeout", "5m"]
        let result = done(try platform.runner(arguments + (isQuiet ? ["-q"] : [])).run())
        let told = ["Vercel has been unreachable since 2", "Vercel is reachable again."]
        for text in told + [". Waiting until 2"] {
            #expect(result.error.ranges(of: text).count == (isQuiet ? 0 : 1), "\(result.error)")
        }
        if isQuiet { #expect(result.error == "") }
    }

    @Test func `a lasting outage ends the wait at the timeout`() throws {
        let platform = try SandboxHome(buildSeconds: 60)
        var runner = platform.runner([
            "redeploy", "-p", "web", "--yes", "--wait", "--timeout", "8s",
        ])
        runner.script = [(.error(": queued"), .call { _, _ in platform.server.stop() })]
        let result = try runner.run()
        #expect(result.end == .exited(7))
        #expect(result.error.contains("Vercel has been unreachable since"), "\(result.error)")
        #expect(!result.error.contains("reachable again"), "\(result.error)")
        #expect(result.error.contains(" was created, and was QUEUED when last seen."))
    }
}

extension JSONDocument {
    func expectMember(
        _ name: String, _ value: JSONDocument, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self[name] == value, sourceLocation: sourceLocation)
    }
}
