import JSON
import Sandbox
import TestSupport
import Testing

/// A token that may not see production variables: what is not listed may exist, so nothing counts as
/// removed and nothing is written to production.
@Suite("Production variables that Vercel hides")
struct HiddenProductionTests {
    private static let seed = """
        {"teams": [{"slug": "acme", "name": "Acme"}],
         "projects": [{"name": "web", "deployments": [{"target": "production"}]}]}
        """

    /// A pushed project with `PROD` (production), `BOTH` (production and preview) and `PREVIEW`.
    private func pushed() throws -> SandboxHome {
        let platform = try SandboxHome(seed: Self.seed)
        try platform.set("PROD", "live", "-t", "production")
        try platform.set("BOTH", "shared", "-t", "production,preview")
        try platform.set("PREVIEW", "trial", "-t", "preview")
        try platform.pushed()
        return platform
    }

    private func hide(_ platform: SandboxHome, _ isHidden: Bool = true) throws {
        try platform.server.perform(
            try #require(Act(isHidden ? "hide-production" : "show-production")))
    }

    private func names(_ platform: SandboxHome, _ options: String...) throws -> [String] {
        let list = try platform.runner(["list", "-p", "web", "--json"] + options).run()
        return try JSONDocument(list.standardOutput).keys("variables").sorted()
    }

    private func expectHiding(
        _ result: ProgramResult, _ status: Int32, count: Int = 2,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            result.end == .exited(status), "\(result.error)\(result.output)",
            sourceLocation: sourceLocation)
        let noun = count == 1 ? "variable" : "variables"
        let words = "Vercel hides \(count) production \(noun) from this token in web"
        #expect(
            (result.error + result.output).contains(words), "\(result.error)\(result.output)",
            sourceLocation: sourceLocation)
    }

    @Test func `VER-hidden-pull a pull removes nothing and says what it does not see`() throws {
        let platform = try pushed()
        try hide(platform)
        for options in [["--yes"], ["--yes", "--force"], ["--dry-run"]] {
            let result = try platform.runner(["pull", "-p", "web", "--json"] + options).run()
            try expectHiding(result, 0)
            let report = try JSONDocument(result.standardOutput)
            #expect(report["hiddenProduction"] == 2)
            #expect(report.keys("unlisted").sorted() == ["BOTH", "PROD"])
            #expect(report.keys("deleted").isEmpty && report.keys("unchanged") == ["PREVIEW"])
            #expect(try names(platform) == ["BOTH", "PREVIEW", "PROD"])
        }
        let revealed = try platform.home.revealed("PROD", "-t", "production", project: "web")
        #expect(revealed == Array("live".utf8))
        // The state of both sides is as it was: seen again, nothing is to be done.
        try hide(platform, false)
        let report = try json(platform.run("pull", "-p", "web", "--yes", "--json"))
        #expect(report["hiddenProduction"] == 0 && report.keys("unchanged").count == 3)
        try platform.pushed().expectNothing()
    }

    @Test func `VER-hidden-pull a removal that a colleague made is not taken over while unseen`()
        throws
    {
        let platform = try pushed()
        try platform.server.perform(try #require(Act("remove,key=PREVIEW")))
        try hide(platform)
        try expectHiding(try platform.run("pull", "-p", "web", "--yes"), 0)
        #expect(try names(platform) == ["BOTH", "PREVIEW", "PROD"])
        try hide(platform, false)
        done(try platform.run("pull", "-p", "web", "--yes"))
        #expect(try names(platform) == ["BOTH", "PROD"])
    }

    @Test
    func `VER-hidden-fresh a fresh vault takes what it sees, and does not write over the rest`()
        throws
    {
        let platform = try pushed()
        try hide(platform)
        let other = try SandboxHome(seed: Self.seed, isLoggedIn: false)
        func run(_ arguments: [String], input: String = "") throws -> ProgramResult {
            var runner = other.runner(arguments, input: .text(input))
            runner.environment["ZG_ENV_API_URL"] = platform.url
            return try runner.run()
        }
        done(try run(["login"], input: platform.token + "\n"))
        try expectHiding(try run(["pull", "-p", "web", "--yes"]), 0)
        done(try run(["set", "PROD", "-p", "web", "-t", "production"], input: "mine"))
        for options in [[], ["--force"], ["--prune"], ["--dry-run"]] {
            try expectHiding(try run(["push", "-p", "web", "--yes"] + options), 6)
        }
        #expect(platform.records("PROD") == ["production=live"])
    }

    @Test func `VER-hidden-push what would change production is refused, and the rest can be sent`()
        throws
    {
        let platform = try pushed()
        try platform.set("PROD", "new", "-t", "production")
        try platform.set("NEW", "new", "-t", "production")
        try platform.set("PREVIEW", "newer", "-t", "preview")
        try hide(platform)
        let before = platform.stored
        for options in [[], ["--force"], ["--dry-run"], ["PROD"], ["NEW"], ["--force", "PROD"]] {
            let result = try platform.runner(["push", "-p", "web", "--yes"] + options).run()
            try expectHiding(result, 6)
            #expect(!result.error.contains("removed on Vercel"), "\(result.error)")
        }
        try expectHiding(
            try platform.run("push", "PREVIEW", "-p", "web", "--yes", "--prune"), 6)
        #expect(platform.stored == before)
        // The command that the message prints.
        let refused = try platform.run("push", "-p", "web", "--yes")
        #expect(refused.error.contains("zg-env push PREVIEW -p web"), "\(refused.error)")
        try expectHiding(try platform.run("push", "PREVIEW", "-p", "web", "--yes"), 0)
        #expect(platform.records("PREVIEW") == ["preview=newer"])
        #expect(platform.records("PROD") == ["production=live"])
        // Removed here, and hidden there.
        let removal = try platform.run("rm", "BOTH", "-p", "web", "--yes", "--push")
        try expectHiding(removal, 6)
        #expect(platform.records("BOTH") == ["production,preview=shared"])
        try hide(platform, false)
        try platform.pushed()
        #expect(platform.records("PROD") == ["production=new"])
        #expect(platform.records("NEW") == ["production=new"])
        #expect(platform.records("BOTH").isEmpty)
    }

    @Test func `VER-hidden-push nothing to send is no claim about what is hidden`() throws {
        let platform = try pushed()
        try hide(platform)
        let result = try platform.run("push", "-p", "web", "--yes", "--json")
        try expectHiding(result, 0)
        let report = try JSONDocument(result.standardOutput)
        #expect(report.keys("unlisted").sorted() == ["BOTH", "PROD"])
        #expect(report.keys("unchanged") == ["PREVIEW"] && report["hiddenProduction"] == 2)
    }

    @Test func `VER-hidden-push what was removed on both sides before needs nothing`() throws {
        let platform = try pushed()
        done(try platform.run("rm", "PROD", "-p", "web", "--yes", "--push"))
        try hide(platform)
        let report = try json(platform.run("push", "-p", "web", "--yes", "--json"))
        #expect(report.keys("unlisted") == ["BOTH"] && report.keys("unchanged") == ["PREVIEW"])
    }

    @Test func `VER-hidden-push what a push sent and cannot see is not called removed`() throws {
        let platform = try pushed()
        try hide(platform)
        try platform.set("NEW", "new", "-t", "preview")
        try platform.setFaults("POST * stores-nothing x1")
        let (report, message) = try failedReport(
            platform.runner(["push", "-p", "web", "--yes", "--json"]).run(), 1, "failed")
        #expect(
            report.reasons("failed") == ["sent, but Vercel does not list it, and may only hide it"],
            "\(message)")
        // What has become of it shows once the list is complete.
        try expectHiding(try platform.run("push", "-p", "web", "--yes"), 6)
        try hide(platform, false)
        try platform.pushed("NEW", "--force")
        #expect(platform.records("NEW") == ["preview=new"])
    }

    @Test func `VER-hidden-push what shows up during a push as gone is a conflict`() throws {
        let platform = try pushed()
        try platform.set("PREVIEW", "newer", "-t", "preview")
        try hide(platform)
        try platform.server.perform(try #require(Act("remove,key=BOTH")))
        try platform.setFaults("PATCH * then:show-production")
        let (report, _) = try failedReport(
            platform.runner(["push", "-p", "web", "--yes", "--json"]).run(), 5, "conflict")
        #expect(report.keys("updated") == ["PREVIEW"] && report.keys("conflicts") == ["BOTH"])
        #expect(report.reasons("conflicts") == ["it was removed on Vercel"])
    }

    @Test func `VER-hidden-push what is hidden while a push asks stops it`() throws {
        let platform = try pushed()
        try platform.set("PROD", "new", "-t", "production")
        try platform.set("BOTH", "new")
        var runner = platform.home.terminalRunner(
            ["push", "-p", "web"],
            script: [
                (
                    .terminal("Push to web?"),
                    .call { _, _ in
                        do { try hide(platform) } catch { Issue.record("\(error)") }
                    }
                ), (.now, .line("y")),
            ])
        runner.environment["ZG_ENV_API_URL"] = platform.url
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = platform.home.passphrasePath
        let result = try runner.run()
        #expect(result.status == 6, "\(result.screen)")
        let said = result.screen + result.error
        #expect(said.contains("Vercel hides 2 production variables"), "\(said)")
        #expect(!said.contains("removed on Vercel"), "\(said)")
        #expect(platform.records("PROD") == ["production=live"])
    }

    @Test func `VER-hidden-look diff, list, reveal and check say that it is not known`() throws {
        let platform = try pushed()
        try hide(platform)
        let difference = try platform.run("diff", "--remote", "-p", "web", "--json")
        try expectHiding(difference, 0)
        let report = try JSONDocument(difference.standardOutput)
        #expect(report["removed"]?.elements.isEmpty == true)
        #expect(report["unlisted"]?.elements.compactMap(\.text) == ["BOTH", "PROD"])
        #expect(report["hiddenProduction"] == 2)

        let list = try platform.run("list", "-p", "web", "--refresh", "--json")
        try expectHiding(list, 0)
        #expect(try JSONDocument(list.standardOutput)["hiddenProduction"] == 2)
        let all = try platform.run("list", "--all-projects", "--refresh", "--json")
        try expectHiding(all, 0)
        #expect(try platform.sync("PROD") == "synced")

        let value = try platform.run("reveal", "PROD", "--remote", "-p", "web")
        #expect(value.status == 4 && value.error.contains("Vercel hides 2"), "\(value.error)")

        try platform.home.directory.write(
            "# @required\nPROD=\n# @required\nPREVIEW=\n", to: "web.schema")
        let path = platform.home.directory.path("web.schema")
        try expectHiding(
            try platform.run(
                "check", "-p", "web", "--on", "vercel", "-t", "production", "--schema", path), 6)
    }

    @Test func `VER-hidden-harden nothing in vault or on Vercel changes`() throws {
        let platform = try pushed()
        try platform.set("NEVER", "sent", "-t", "production")
        try hide(platform)
        try expectHiding(try platform.run("harden", "NEVER", "-p", "web", "--yes"), 6)
        let list = try json(platform.run("list", "NEVER", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["type"] == "encrypted")
        try expectHiding(try platform.run("harden", "PREVIEW", "-p", "web", "--yes"), 0)
        #expect(platform.stored.first { $0.key == "PREVIEW" }?.type == "sensitive")
    }

    @Test func `VER-hidden-rotate a rotation does not begin`() throws {
        let home = try RotationHome()
        try hide(home.platform)
        let before = home.platform.server.requests.count
        let result = try home.rotate()
        #expect(result.status == 6, "\(result.error)")
        #expect(result.error.contains("Vercel hides 2 production variables"), "\(result.error)")
        #expect(
            home.platform.server.requests.dropFirst(before).allSatisfy { $0.method == "GET" })
        #expect(try home.revealed() == RotationHome.old)
    }

    @Test(
        "VER-hidden-rotate what is hidden in the middle of a rotation is never taken for removed",
        arguments: ["asking", "building"])
    func middle(moment: String) throws {
        let home = try RotationHome()
        if moment == "building" {
            try home.platform.setFaults("POST /v13/deployments* then:hide-production x1")
        }
        var runner = home.platform.home.terminalRunner(
            ["rotate", "KEY", "-p", "web", "--generate", "hex:16", "--redeploy"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (
                    .terminal("[y/N]"),
                    .call { _, _ in
                        guard moment == "asking" else { return }
                        do { try hide(home.platform) } catch { Issue.record("\(error)") }
                    }
                ), (.now, .line("y")),
            ])
        runner.environment["ZG_ENV_API_URL"] = home.platform.url
        let result = try runner.run()
        let said = result.screen + result.error
        #expect(result.status != 0 || moment == "building", "\(said)")
        #expect(!said.contains("removed on Vercel"), "\(said)")
        let values = Set(home.stored())
        #expect(values.count == 1)
        if moment == "asking" { #expect(values == [RotationHome.old], "\(said)") }
        // Seen again, everything ends.
        try hide(home.platform, false)
        if result.status != 0 {
            let end = try home.proceed(moment == "asking" ? "--abort" : "--resume")
            #expect([0, 4, 10].contains(end.status), "\(said)\n\(end.error)")
        }
        #expect(try home.platform.sync("KEY") == "synced")
    }

    @Test func `VER-hidden-push what was removed before is not to be sent again`() throws {
        let platform = try pushed()
        done(try platform.run("rm", "PROD", "-p", "web", "--yes", "--push"))
        try platform.set("PREVIEW", "newer", "-t", "preview")
        try hide(platform)
        try expectHiding(try platform.run("push", "-p", "web", "--yes"), 0, count: 1)
        #expect(platform.records("PREVIEW") == ["preview=newer"])
    }

    @Test func `VER-hidden-push a hidden variable in the way is called that`() throws {
        let platform = try pushed()
        let act = "create,key=TAKEN,value=theirs,targets=production+preview"
        try platform.server.perform(try #require(Act(act)))
        try hide(platform)
        try platform.set("TAKEN", "mine", "-t", "preview")
        for options in [[], ["--force"]] {
            let result = try platform.runner(["push", "-p", "web", "--yes"] + options).run()
            #expect(result.status == 6, "\(result.error)")
            #expect(!result.error.contains("pull TAKEN"), "\(result.error)")
        }
        #expect(platform.records("TAKEN") == ["production,preview=theirs"])
    }

    @Test func `VER-hidden-pull no target of the vault goes because it cannot be seen`() throws {
        let platform = try pushed()
        try platform.server.perform(try #require(Act("set,key=BOTH,newTargets=preview")))
        let act = "create,key=BOTH,value=theirs,targets=production"
        try platform.server.perform(try #require(Act(act)))
        try hide(platform)
        let result = try platform.run("pull", "-p", "web", "--yes", "--json")
        try expectHiding(result, 0)
        #expect(try JSONDocument(result.standardOutput).keys("unlisted").contains("BOTH"))
        let value = try platform.home.revealed("BOTH", "-t", "production", project: "web")
        #expect(value == Array("shared".utf8))
    }

    @Test func `VER-hidden-check a hidden variable may have the other targets too`() throws {
        let platform = try pushed()
        try platform.home.directory.write("# @required\nBOTH=\n", to: "web.schema")
        let path = platform.home.directory.path("web.schema")
        try hide(platform)
        for options in [["-t", "preview"], ["-t", "production"], []] {
            try expectHiding(
                try platform.runner(
                    ["check", "-p", "web", "--on", "vercel", "--schema", path] + options
                ).run(), 6)
        }
        try hide(platform, false)
        done(
            try platform.run(
                "check", "-p", "web", "--on", "vercel", "-t", "preview", "--schema", path))
    }

    @Test func `VER-hidden-harden does not say that nothing is left`() throws {
        let platform = try pushed()
        try hide(platform)
        for arguments in [[], ["BOTH"], ["-t", "production"]] {
            let result = try platform.runner(["harden", "-p", "web", "--yes"] + arguments).run()
            try expectHiding(result, 6)
            #expect(!result.output.contains("Nothing"), "\(result.output)")
        }
        try expectHiding(
            try platform.run("harden", "-p", "web", "-t", "preview", "--yes"), 0)
        #expect(platform.stored.filter { $0.type == "sensitive" }.map(\.key) == ["PREVIEW"])
    }

    @Test func `VER-hidden-rollback what the vault knows is still said`() throws {
        let platform = try pushed()
        let old = try #require(try platform.current())
        try platform.set("PROD", "newer", "-t", "production")
        try platform.pushed()
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        try hide(platform)
        let plan = try platform.run("deployment", "rollback", old, "-p", "web", "--dry-run")
        #expect(plan.output.contains("PROD"), "\(plan.output)\(plan.error)")
    }
}
