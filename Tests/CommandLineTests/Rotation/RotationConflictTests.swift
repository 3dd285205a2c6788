import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// Somebody changes the variable on Vercel while a rotation asks, builds or is about to revoke.
@Suite("Rotating while somebody else makes changes")
struct RotationConflictTests {
    private static let (old, new) = (RotationHome.old, RotationHome.new)

    /// Runs a rotation on a terminal and an action during its question.
    private static func asked(
        _ home: RotationHome, _ arguments: [String] = [], _ meanwhile: @escaping () throws -> Void
    ) throws -> ProgramResult {
        var runner = home.platform.home.terminalRunner(
            ["rotate", "KEY", "-p", "web", "--generate", "hex:16", "--redeploy"] + arguments)
        runner.environment["ZG_ENV_API_URL"] = home.platform.url
        runner.script = [
            (.terminal("Passphrase"), .line(CommandHome.passphrase)),
            (
                .terminal("[y/N]"),
                .call { _, _ in
                    do { try meanwhile() } catch { Issue.record("\(error)") }
                }
            ),
            (.now, .line("y")),
        ]
        return try runner.run()
    }

    /// Changes the variable once a deployment was requested.
    private static func whileBuilding(
        _ home: RotationHome, method: String = "PATCH",
        _ changes: JSONValue = ["value": "theirs"], _ run: () throws -> ProgramResult
    ) throws -> ProgramResult {
        let (server, teammate) = (home.platform.server, home.platform.teammate)
        let path = "/v9/projects/web/env/\(try home.platform.id("KEY"))"
        let before = server.requests.count
        let somebody = DispatchGroup()
        somebody.enter()
        Thread.detachNewThread {
            defer { somebody.leave() }
            guard
                server.waits(
                    after: before,
                    until: { requests in
                        requests.contains {
                            $0.method == "POST" && $0.path.hasPrefix("/v13/deployments")
                        }
                    })
            else { return }
            do {
                try teammate.send(method, path, method == "PATCH" ? changes : nil)
            } catch {
                Issue.record("\(error)")
            }
        }
        let result = try run()
        somebody.wait()
        return result
    }

    private static func edit(_ home: RotationHome, _ value: String = "theirs") throws {
        try home.platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(home.platform.id("KEY"))", ["value": .string(value)])
    }

    private static func rotations(_ home: RotationHome) throws -> [JSONDocument] {
        try json(home.platform.run("rotate", "--status", "--json"))["rotations"]?.elements ?? []
    }

    private static func versions(_ home: RotationHome) throws -> Int {
        let history = try json(
            home.platform.home.run(["history", "KEY", "-p", "web", "--json"]))
        return history["versions"]?.elements.count ?? -1
    }

    @Test("SYNC-A7: an edit during the question ends with 5, nothing sent and nothing open")
    func editedDuringTheQuestion() throws {
        for arguments in [[], ["--on-failure", "keep"]] {
            let home = try RotationHome()
            let before = home.platform.server.requests.count
            let result = try Self.asked(home, arguments) { try Self.edit(home) }
            #expect(result.end == .exited(5), "\(result.error)")
            #expect(result.error.contains("Nothing was changed"), "\(result.error)")
            let writes = home.platform.server.requests.dropFirst(before).filter {
                $0.method != "GET"
            }
            // Somebody else's value.
            #expect(writes.map(\.method) == ["PATCH"])
            #expect(home.stored() == ["theirs"])
            #expect(try home.served() == Self.old)
            #expect(try home.revealed() == Self.old)
            let known = try Self.rotations(home)
            #expect(known.map { $0["open"] } == [false])
            #expect(known.first?["outcome"] == "unchanged")
            #expect(known.first?.project?["state"] == "unchanged")
            // The value that was never used is gone.
            #expect(try Self.versions(home) == 1)
            // The next step from the message works.
            #expect(result.error.contains("zg-env pull KEY -p web"), "\(result.error)")
            done(try home.platform.run("pull", "KEY", "-p", "web", "--yes"))
            #expect(try home.revealed() == "theirs")
            #expect(try json(home.rotate())["outcome"] == "done")
            try home.expect(Self.new)
        }
    }

    @Test("SYNC-A7: of two concurrent rotations the loser ends with 5 and has nothing open")
    func twoMachines() throws {
        let home = try RotationHome()
        let other = try CommandHome()
        try other.initialise()
        func there(_ arguments: [String], _ input: ProgramRunner.Input = .null) throws
            -> ProgramResult
        {
            try other.runner(
                arguments, input: input, environment: ["ZG_ENV_API_URL": home.platform.url]
            ).run()
        }
        done(try there(["login"], .text(home.platform.token + "\n")))
        done(try there(["pull", "-p", "web", "--yes"]))
        let result = try Self.asked(home) {
            let theirs = try there(
                ["rotate", "KEY", "-p", "web", "--redeploy", "--yes", "--json"], .text(Self.new))
            #expect(try json(theirs)["outcome"] == "done")
        }
        #expect(result.end == .exited(5), "\(result.error)")
        #expect(home.stored() == [Self.new])
        #expect(try home.served() == Self.new)
        #expect(try Self.rotations(home).map { $0["open"] } == [false])
        #expect(try Self.versions(home) == 1)
        done(try home.platform.run("pull", "KEY", "-p", "web", "--yes"))
        #expect(try home.revealed() == Self.new)
    }

    @Test(
        "SYNC-A7: an edit in one project of two puts the other one back, and leaves the edit there")
    func editedInOneOfTwo() throws {
        let seed = """
            {"projects": [{"name": "web", "deployments": [{"target": "production"}]},
                          {"name": "shop", "deployments": [{"target": "production"}]}]}
            """
        let home = try RotationHome(seed: seed, projects: ["web", "shop"])
        let result = try Self.asked(home, ["--also-project", "shop"]) { try Self.edit(home) }
        #expect(result.end == .exited(10), "\(result.error)")
        #expect(result.error.contains("Nothing was sent to web"), "\(result.error)")
        #expect(home.stored() == ["theirs"])
        #expect(try home.revealed() == Self.old)
        try home.expect(Self.old, project: "shop")
        #expect(try Self.rotations(home).map { $0["open"] } == [false])
    }

    @Test(
        "SYNC-A7: a failed build and an edit meanwhile end with 10: the edit stays, old value live"
    )
    func editedWhileABuildFails() throws {
        let home = try RotationHome(buildSeconds: 1)
        home.platform.server.setBuild(.fail)
        let result = try Self.whileBuilding(home) { try home.rotate() }
        let (report, message) = try failedReport(result, 10, "rolled_back")
        #expect(report["open"] == false)
        #expect(report.project?["state"] == "changed_elsewhere")
        #expect(message.contains("a different value on Vercel by your account"), "\(message)")
        #expect(!message.contains("may still have the new value"), "\(message)")
        #expect(home.stored() == ["theirs"])
        #expect(try home.served() == Self.old)
        #expect(try home.revealed() == Self.old)
        #expect(try Self.rotations(home).first?.project?["state"] == "changed_elsewhere")
        // The next step from the message works.
        #expect(message.contains("zg-env pull KEY -p web --force"), "\(message)")
        done(try home.platform.run("pull", "KEY", "-p", "web", "--force", "--yes"))
        #expect(try home.revealed() == "theirs")
    }

    @Test("SYNC-A7: a build that includes a third value ends with 10, and that value stays")
    func builtWithAThirdValue() throws {
        let home = try RotationHome()
        try home.platform.setFaults(
            "POST /deployments before:set,key=KEY,value=theirs,project=web")
        let (report, message) = try failedReport(home.rotate(), 10, "rolled_back")
        #expect(report["open"] == false)
        #expect(report.project?["state"] == "changed_elsewhere")
        #expect(message.contains("zg-env pull KEY -p web --force"), "\(message)")
        #expect(home.stored() == ["theirs"])
        #expect(try home.revealed() == Self.old)
        #expect(try Self.rotations(home).map { $0["open"] } == [false])
    }

    @Test("SYNC-A7: --abort ends with 10 where Vercel provably lacks the new value")
    func abortedAfterAnEdit() throws {
        let home = try RotationHome(buildSeconds: 1)
        home.platform.server.setBuild(.fail)
        _ = try failedReport(home.rotate("--on-failure", "keep"), 11, "needs_attention")
        #expect(home.stored() == [Self.new])
        try Self.edit(home)
        let (report, _) = try failedReport(home.proceed("--abort"), 10, "rolled_back")
        #expect(report["open"] == false)
        #expect(home.stored() == ["theirs"])
        #expect(try home.served() == Self.old)
        // Somebody has already restored the old value.
        let other = try RotationHome(buildSeconds: 1)
        other.platform.server.setBuild(.fail)
        _ = try failedReport(other.rotate("--on-failure", "keep"), 11, "needs_attention")
        try Self.edit(other, Self.old)
        #expect(try json(other.proceed("--abort"))["outcome"] == "rolled_back")
        try other.expect(Self.old)
    }

    @Test("SYNC-A7: an unreadable value that may be the new one keeps the rotation open")
    func abortedWhereNothingIsProved() throws {
        let home = try RotationHome(type: "sensitive", buildSeconds: 1)
        home.platform.server.setBuild(.fail)
        _ = try failedReport(home.rotate("--on-failure", "keep"), 11, "needs_attention")
        try Self.edit(home)
        let (report, message) = try failedReport(home.proceed("--abort"), 11, "needs_attention")
        #expect(report["open"] == true)
        #expect(message.contains("may still have the new value"), "\(message)")
        #expect(home.stored() == ["theirs"])
    }

    @Test(
        "SYNC-A7: the record is read before --revoke, and an edit meanwhile keeps the old value"
    )
    func editedBeforeRevoking() throws {
        for type in ["encrypted", "sensitive"] {
            let home = try RotationHome(type: type, buildSeconds: 1)
            let arguments = ["--check", "true", "--revoke", home.recorder("revoke")]
            let result = try Self.whileBuilding(home) { try home.runner(arguments).run() }
            let (report, message) = try failedReport(result, 11, "needs_attention")
            #expect(report["open"] == true && report["revoked"] == false)
            #expect(home.read("revoke") == "")
            #expect(message.contains("web is live with the new value"), "\(message)")
            #expect(message.contains("by your account"), "\(message)")
            #expect(try home.served() == Self.new)
            #expect(home.stored() == ["theirs"])
            // Nothing was revoked, and this does not revoke either.
            _ = try failedReport(home.proceed("--resume"), 11, "needs_attention")
            #expect(home.read("revoke") == "")
            // The next step from the message works.
            #expect(message.contains("zg-env push KEY -p web --force"), "\(message)")
            done(try home.platform.run("push", "KEY", "-p", "web", "--force", "--yes"))
            let end = try json(home.proceed("--resume"))
            #expect(end["outcome"] == "done" && end["revoked"] == true)
            #expect(home.read("revoke") == "revoke \(Self.old) \(Self.new)\n")
            try home.expect(Self.new)
        }
    }

    @Test("SYNC-A7: without --revoke too, an edit during the build is not reported as rotated")
    func editedBeforeTheEnd() throws {
        for type in ["encrypted", "sensitive"] {
            let home = try RotationHome(type: type, buildSeconds: 1)
            let result = try Self.whileBuilding(home) { try home.runner().run() }
            let (report, message) = try failedReport(result, 11, "needs_attention")
            #expect(report["open"] == true && report["outcome"] == "needs_attention")
            #expect(message.contains("web is live with the new value"), "\(message)")
            #expect(message.contains("by your account"), "\(message)")
            #expect(try home.served() == Self.new && home.stored() == ["theirs"])
            // While that lasts.
            _ = try failedReport(home.proceed("--resume"), 11, "needs_attention")
            // The next step from the message works.
            #expect(message.contains("zg-env push KEY -p web --force"), "\(message)")
            done(try home.platform.run("push", "KEY", "-p", "web", "--force", "--yes"))
            #expect(try json(home.proceed("--resume"))["outcome"] == "done")
            try home.expect(Self.new)
        }
    }

    @Test("SYNC-A7: with another name or other targets the new value is not reported as rotated")
    func movedBeforeTheEnd() throws {
        for changes: JSONValue in [["key": "OTHER"], ["target": ["preview"]]] {
            let home = try RotationHome(buildSeconds: 1)
            let result = try Self.whileBuilding(home, changes) {
                try home.runner(["--revoke", home.recorder("revoke")]).run()
            }
            let (report, message) = try failedReport(result, 11, "needs_attention")
            #expect(report["open"] == true && report["revoked"] == false)
            #expect(message.contains("renamed or given other targets"), "\(message)")
            #expect(home.read("revoke") == "")
        }
    }

    @Test("SYNC-M13: a value that the vault lacks is not replaced after an unseen change")
    func changedUnseen() throws {
        let home = try RotationHome()
        try home.platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "HIDDEN", "value": "first", "type": "sensitive", "target": ["production"]])
        done(try home.platform.run("pull", "-p", "web", "--yes"))
        try home.platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(home.platform.id("HIDDEN"))", ["value": "theirs"])
        func rotate() throws -> ProgramResult {
            try home.platform.run(
                "rotate", "HIDDEN", "-p", "web", "--raw", "--yes", "--allow-missing",
                input: .text("mine"))
        }
        let result = try rotate()
        #expect(result.status == 5)
        #expect(result.error.contains("zg-env pull HIDDEN -p web"), "\(result.error)")
        #expect(home.platform.stored.first { $0.key == "HIDDEN" }?.value == "theirs")
        // After a pull it may be replaced.
        done(try home.platform.run("pull", "HIDDEN", "-p", "web", "--yes"))
        done(try rotate())
        #expect(home.platform.stored.first { $0.key == "HIDDEN" }?.value == "mine")
    }

    @Test("SYNC-A7: a project with an open rotation cannot be linked to another one")
    func linkedElsewhere() throws {
        let home = try RotationHome()
        let platform = home.platform
        platform.server.setBuild(.fail)
        _ = try failedReport(home.rotate("--on-failure", "keep"), 11, "needs_attention")
        try platform.server.perform(try #require(Act("recreate-project")))
        // The messages lead to the new project.
        failed(
            try platform.run("push", "-p", "web", "--yes"), 4, "zg-env link web --force")
        failed(
            try platform.run("link", "web", "--force"), 5, "A rotation of KEY in web",
            "zg-env rotate KEY -p web --close")
        #expect(try Self.rotations(home).map { $0["open"] } == [true])
        failed(try platform.run("rotate", "KEY", "-p", "web", "--abort", "--yes"), 4)
        done(try platform.run("rotate", "KEY", "-p", "web", "--close", "--yes"))
        done(try platform.run("link", "web", "--force"))
        done(try platform.run("push", "-p", "web", "--yes"))
        #expect(home.stored() == [Self.new])
    }

    @Test("SYNC-A7: a rotation that does not begin keeps the sync state it has read")
    func notBegun() throws {
        let home = try RotationHome()
        done(
            try home.platform.run(
                "set", "KEY", "-p", "web", "-t", "production", input: .text("mine")))
        done(
            try home.platform.run(
                "set", "OTHER", "-p", "web", "-t", "production", input: .text("a")))
        done(try home.platform.run("push", "OTHER", "-p", "web", "--yes"))
        try home.platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(home.platform.id("OTHER"))", ["value": "theirs"])
        try failedAsJSON(home.rotate(), 5, "conflict")
        let list = try json(home.platform.run("list", "OTHER", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["sync"] == "behind")
    }

    @Test("SYNC-A7: a record that is deleted before --revoke keeps the old value")
    func removedBeforeRevoking() throws {
        let home = try RotationHome(buildSeconds: 1)
        let result = try Self.whileBuilding(home, method: "DELETE") {
            try home.runner(["--revoke", home.recorder("revoke")]).run()
        }
        let (_, message) = try failedReport(result, 11, "needs_attention")
        #expect(message.contains("removed on Vercel"), "\(message)")
        #expect(home.read("revoke") == "")
    }

    @Test func `a vault that others can read is refused before anything is sent`() throws {
        let home = try RotationHome()
        #expect(unsafe chmod(home.platform.home.vaultPath, 0o644) == 0)
        let requests = try home.platform.requests {
            let result = try home.rotate()
            #expect(result.end == .exited(1))
            #expect(result.error.contains("chmod 600"), "\(result.error)")
        }
        #expect(requests.isEmpty)
    }

    @Test("SYNC-A7: --close and --status agree on what is closed")
    func closed() throws {
        let home = try RotationHome()
        _ = try failedReport(
            home.rotate("--check", "test \"$(cat)\" = '\(Self.old)'", "--on-failure", "keep"), 11,
            "needs_attention")
        let dry = try json(home.proceed("KEY", "--close", "--dry-run"))
        #expect(dry["open"] == true && dry["dryRun"] == true)
        let report = try json(home.proceed("KEY", "--close"))
        #expect(report["open"] == false && report["outcome"] == "closed")
        #expect(isTime(report["endedAt"]))
        let known = try Self.rotations(home)
        #expect(known.count == 1)
        #expect(known.first?["open"] == false && known.first?["outcome"] == "closed")
        #expect(known.first?["endedAt"] == report["endedAt"])
        let text = done(try home.platform.run("rotate", "--status")).output
        #expect(text.contains("closed without finishing"), "\(text)")
        // It blocks nobody any more.
        try failedAsJSON(home.proceed("--resume"), 4, "not_found")
        try failedAsJSON(home.proceed("--close"), 4, "not_found")
        done(try home.platform.run("set", "KEY", "-p", "web", input: .text("third")))
    }
}
