import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// Promoting, rolling back, canceling and deleting: the action happens and is verified, and a
/// refusal has a hint.
@Suite("Actions on deployments")
struct DeploymentActionTests {
    // MARK: Promoting

    @Test func `a staged deployment gets the domains, without a build`() throws {
        let (platform, ids) = try FourDeployments.start()
        #expect(try platform.current() == ids.current)
        let plan = done(try platform.run("deployment", "promote", ids.staged, "--dry-run"))
        #expect(plan.output.contains("moving the domains, without a build"))
        #expect(try platform.current() == ids.current)
        let writes = try platform.writes {
            let report = try json(FourDeployments.act(platform, "promote", ids.staged))
            #expect(report["id"] == .string(ids.staged) && report["current"] == true)
            #expect(report["previous"] == .string(ids.current))
            #expect(report["method"] == "domains")
        }
        #expect(writes.count == 1 && writes[0].contains("/promote/\(ids.staged)"))
        #expect(try platform.current() == ids.staged)
        // The second time there is nothing to do and no question.
        let again = try platform.writes {
            let report = try json(
                platform.run("deployment", "promote", ids.staged, "--json"))
            #expect(report["current"] == true && report["method"] == .null)
        }
        #expect(again == [])
    }

    @Test func `a preview is rebuilt for production`() throws {
        let (platform, ids) = try FourDeployments.start()
        let plan = try json(
            platform.run("deployment", "promote", ids.preview, "--dry-run", "--json"))
        #expect(plan["method"] == "build" && plan["dryRun"] == true)
        let text = done(try platform.run("deployment", "promote", ids.preview, "--dry-run"))
        #expect(text.output.contains("by rebuilding it with production's variables"))
        let report = try json(FourDeployments.act(platform, "promote", ids.preview, "--wait"))
        #expect(report["method"] == "build" && report["current"] == true)
        #expect(report["target"] == "production" && report["id"] != .string(ids.preview))
        let id = try #require(report["id"]?.text)
        #expect(try platform.current() == id)
        #expect(platform.server.builtVariables(deployment: id)?["OLD"] == "a")
        let request = platform.server.requests.last { $0.method == "POST" }
        #expect(request?.body?["meta"]?["action"] == "promote")
        // Without --wait it says that it is not live yet.
        let asked = done(
            try platform.run("deployment", "promote", ids.preview, "--yes"))
        #expect(asked.error.contains("not live yet"))
        platform.server.setBuild(.fail)
        let failing = try FourDeployments.act(platform, "promote", ids.preview, "--wait")
        #expect(failing.status == 9)
    }

    // MARK: Rolling back

    @Test("USE-B12: a rollback names the variables that change, and its progress is shown")
    func rollback() throws {
        let (platform, ids) = try FourDeployments.start()
        done(try platform.run("pull", "-p", "web", "--yes"))
        // Changed, added and removed on Vercel since.
        for name in ["CHANGED", "PREVIEW"] {
            try platform.teammate.send(
                "PATCH", "/v9/projects/web/env/\(try platform.id(name))", ["value": "b"])
        }
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "NEW", "value": "x", "type": "encrypted", "target": ["production"]])
        done(try platform.run("rm", "GONE", "-p", "web", "--push", "--yes"))

        let plan = done(try platform.run("deployment", "rollback", "-p", "web", "--dry-run"))
        #expect(plan.output.contains("roll web back from \(ids.current) to \(ids.earlier)"))
        #expect(plan.output.contains("different values for: CHANGED\n"))
        #expect(plan.output.contains("built without: NEW\n"))
        #expect(plan.output.contains("have since been removed: GONE\n"))
        #expect(try platform.current() == ids.current)

        let writes = try platform.writes {
            let report = try json(
                FourDeployments.act(platform, "rollback", "-p", "web", "--reason", "It is broken"))
            #expect(report["id"] == .string(ids.earlier) && report["current"] == true)
            #expect(report["previous"] == .string(ids.current))
            #expect(report["olderVariables"] == ["CHANGED"])
            #expect(report["missingVariables"] == ["NEW"])
            #expect(report["removedVariables"] == ["GONE"])
            let warnings = report["warnings"]?.elements ?? []
            #expect(warnings.map { $0["code"] } == ["older-values"])
            #expect(warnings.first?["message"]?.text?.contains("CHANGED") == true)
        }
        #expect(writes.count == 1 && writes[0].contains("/rollback/\(ids.earlier)"))
        #expect(
            platform.server.requests.contains { $0.path.contains("description=It is broken") })
        #expect(try platform.current() == ids.earlier)
        // The vault knows what is live now, and a promotion leads back.
        let back = try json(FourDeployments.act(platform, "promote", ids.current))
        #expect(back["current"] == true)
    }

    @Test func `a deployment that was never live cannot be rolled back to`() throws {
        let (platform, ids) = try FourDeployments.start()
        let before = try platform.current()
        for (id, words) in [
            (ids.current, "is already live"), (ids.staged, "never been live"),
            (ids.preview, "not built for production"),
        ] {
            let writes = try platform.writes {
                let text = try failedAsJSON(
                    FourDeployments.act(platform, "rollback", id), 5, "conflict")
                #expect(text.contains(words) && text.contains("zg-env"), "\(text)")
            }
            #expect(writes == [])
        }
        #expect(try platform.current() == before)
        // With no earlier deployment, and with none at all.
        let other = try SandboxHome()
        try failedAsJSON(FourDeployments.act(other, "rollback", "-p", "web"), 4, "not_found")
        try failedAsJSON(FourDeployments.act(other, "rollback", "-p", "bare"), 4, "not_found")
    }

    // MARK: Canceling

    @Test func `a build is canceled, and a finished one is not`() throws {
        let (platform, ids) = try FourDeployments.start(buildSeconds: 60)
        let made = try json(
            platform.run("redeploy", ids.current, "--yes", "--json"))
        let id = try #require(made["id"]?.text)
        let plan = done(try platform.run("deployment", "cancel", id, "--dry-run"))
        #expect(plan.output.contains("Would cancel \(id) of web for production"))
        done(try platform.run("deployment", "cancel", id, "--dry-run", "--json"))
        let report = try json(FourDeployments.act(platform, "cancel", id))
        #expect(report["state"] == "CANCELED" && report["current"] == false)
        let again = try platform.writes {
            let report = try json(FourDeployments.act(platform, "cancel", id))
            #expect(report["state"] == "CANCELED")
        }
        #expect(again == [])
        let built = try failedAsJSON(
            FourDeployments.act(platform, "cancel", ids.current), 5, "conflict")
        #expect(built.contains("is already built") && built.contains("deployment rollback"))
        #expect(try platform.current() == ids.current)

        // It ended between the question and the answer.
        let other = try json(platform.run("redeploy", ids.current, "--yes", "--json"))
        let late = try #require(other["id"]?.text)
        var runner = platform.runner(["deployment", "cancel", late])
        runner.terminal = .init()
        runner.script = [
            (
                .terminal("Cancel this deployment?"),
                .call { _, _ in platform.server.advanceClock(bySeconds: 120) }
            ), (.now, .line("y")),
        ]
        let result = try runner.run()
        #expect(result.status == 5 && result.error.contains("is already built"), "\(result.error)")
    }

    // MARK: Deleting

    @Test func `deployments are deleted, and the deletion is verified`() throws {
        let (platform, ids) = try FourDeployments.start(buildSeconds: 60)
        let plan = done(
            try platform.run("deployment", "delete", ids.preview, ids.staged, "--dry-run"))
        #expect(plan.output.contains(ids.preview) && plan.output.contains(ids.staged))
        #expect(plan.output.contains("web-git-feature"))
        done(try platform.run("deployment", "delete", ids.preview, "--dry-run", "--json"))
        // One that cannot be deleted keeps all of them.
        let writes = try platform.writes {
            let live = try failedAsJSON(
                FourDeployments.act(platform, "delete", ids.preview, ids.current), 5, "conflict")
            #expect(live.contains("is live") && live.contains("Nothing was deleted"))
            let made = try platform.teammate.send(
                "POST", "/v13/deployments", ["deploymentId": .string(ids.preview), "name": "web"])
            let building = try #require(made["id"]?.string)
            let text = try failedAsJSON(
                FourDeployments.act(platform, "delete", ids.preview, building), 5, "conflict")
            #expect(text.contains("deployment cancel \(building)"))
        }
        #expect(!writes.contains { $0.hasPrefix("DELETE") })
        let report = try json(
            FourDeployments.act(platform, "delete", ids.preview, ids.staged, ids.preview))
        #expect(
            report["deleted"]?.elements.map { $0["id"]?.text } == [ids.preview, ids.staged])
        #expect(report["failed"] == [])
        #expect(try !platform.deployments().contains(ids.preview))
        try failedAsJSON(FourDeployments.act(platform, "delete", ids.preview), 4, "not_found")
    }

    @Test func `a deletion that fails for some reports each`() throws {
        let (platform, ids) = try FourDeployments.start()
        try platform.setFaults("DELETE *\(ids.staged) 409")
        let result = try FourDeployments.act(platform, "delete", ids.preview, ids.staged)
        #expect(result.status == 1)
        let report = try JSONDocument(result.standardOutput)
        #expect(report["deleted"]?.elements.map { $0["id"]?.text } == [ids.preview])
        #expect(report["failed"]?.elements.map { $0["id"]?.text } == [ids.staged])
        // It still exists, whatever Vercel answered.
        try platform.setFaults("DELETE *\(ids.staged) 404 x1")
        let (_, stays) = try failedReport(
            FourDeployments.act(platform, "delete", ids.staged), 1, "failed")
        #expect(stays.contains("still shows it"))
        // The answer was lost: it is gone, and that counts.
        try platform.setFaults("DELETE * lost-answer x1")
        let lost = try json(FourDeployments.act(platform, "delete", ids.staged))
        #expect(lost["deleted"]?.elements.count == 1)
    }

    // MARK: All actions

    @Test func `each action asks first, and does nothing without an answer`() throws {
        let (platform, ids) = try FourDeployments.start(buildSeconds: 60)
        let made = try platform.teammate.send(
            "POST", "/v13/deployments", ["deploymentId": .string(ids.preview), "name": "web"])
        let building = try #require(made["id"]?.string)
        for arguments in [
            ["promote", ids.staged], ["promote", ids.preview], ["rollback", ids.earlier],
            ["cancel", building], ["delete", ids.staged],
        ] {
            let writes = try platform.writes {
                try failedAsJSON(
                    platform.runner(["deployment"] + arguments + ["--json"]).run(), 2, "usage")
                let unattended = try platform.runner(["deployment"] + arguments).run()
                #expect(unattended.status == 2 && unattended.error.contains("--yes"))
                #expect(unattended.error.contains(arguments[1]))
                var runner = platform.runner(["deployment"] + arguments)
                runner.terminal = .init()
                runner.script = [(.terminal("?"), .line("n"))]
                let no = try runner.run()
                #expect(no.status == 1 && no.error.contains("Canceled."))
                #expect(no.error.contains(arguments[1]))
                let offline = try platform.runner(
                    ["deployment"] + arguments + ["--offline", "--yes", "--json"]
                ).run()
                try failedAsJSON(offline, 7, "unavailable")
            }
            #expect(writes == [], "\(arguments)")
        }
    }

    @Test func `cached deployments are dropped`() throws {
        let (platform, ids) = try FourDeployments.start()
        try platform.set("KEY", "value")
        func listed() throws -> [JSONDocument] {
            try json(platform.run("deployment", "list", "-p", "web", "--json"))["deployments"]?
                .elements ?? []
        }
        #expect(try listed().first { $0["current"] == true }?["id"] == .string(ids.current))
        _ = try json(FourDeployments.act(platform, "promote", ids.staged))
        #expect(try listed().first { $0["current"] == true }?["id"] == .string(ids.staged))
        _ = try json(FourDeployments.act(platform, "rollback", ids.current))
        #expect(try listed().first { $0["current"] == true }?["id"] == .string(ids.current))
        _ = try json(FourDeployments.act(platform, "delete", ids.preview))
        #expect(try !listed().contains { $0["id"] == .string(ids.preview) })
    }

    @Test func `a token in the environment needs no vault`() throws {
        let platform = try SandboxHome(
            seed: FourDeployments.seed, buildSeconds: 5, hasVault: false, isLoggedIn: false)
        let ids = try platform.deployments()
        let token = ["VERCEL_TOKEN": platform.token]
        for arguments in [
            ["show", ids[0]], ["logs", ids[0]], ["promote", ids[1]], ["rollback", ids[2]],
            ["delete", ids[0]],
        ] {
            done(
                try platform.runner(
                    ["deployment"] + arguments + ["--yes"], environment: token
                ).run())
        }
        let made = try platform.teammate.send(
            "POST", "/v13/deployments", ["deploymentId": .string(ids[1]), "name": "web"])
        let id = try #require(made["id"]?.string)
        done(try platform.run("deployment", "cancel", id, "--yes", environment: token))
        done(
            try platform.run(
                "deployment", "list", "-p", "web", "--json", environment: token))
        #expect(throws: (any Error).self) { try platform.home.vaultBytes() }
    }
}
