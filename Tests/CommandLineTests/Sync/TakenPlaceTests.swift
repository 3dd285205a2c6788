import Sandbox
import TestSupport
import Testing

/// A colleague's variable in the scope that a variable of the vault has left.
@Suite("Sync: the scope of a removed variable is taken")
struct TakenPlaceTests {
    private let platform: SandboxHome
    private var follower: AdviceFollower { AdviceFollower(platform: platform) }

    /// A project whose production was built with `D`.
    init() throws {
        platform = try SandboxHome()
        try platform.set("D", "mine", "-t", "production,preview")
        try platform.pushed()
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
    }

    private func acts(_ acts: String...) throws {
        for text in acts { try platform.server.perform(try #require(Act(text), "\(text)")) }
    }

    private func notLive() throws -> [String] {
        try json(platform.run("status", "--json")).keys("notLive")
    }

    @Test(
        "SYNC-M25: another record in a removed variable's scope is a conflict",
        arguments: ["push", "push D", "status", "redeploy"])
    func madeAgain(first: String) throws {
        try acts("remove,key=D", "create,key=D,value=theirs,targets=production")
        done(try platform.run("rm", "D", "-p", "web", "--yes"))
        switch first {
        // Reading settles nothing.
        case "status": done(try platform.run("status", "-p", "web", "--refresh"))
        case "redeploy":
            let made = try json(
                platform.run("redeploy", "-p", "web", "--yes", "--wait", "--json"))
            #expect(made["removedVariables"] == [])
        default: break
        }
        #expect(try notLive() == [])
        let words = first == "push D" ? ["push", "D"] : ["push"]
        let failing = words + ["-p", "web", "--yes"]
        for _ in 0..<2 {
            let (report, _) = try failedReport(
                try platform.runner(failing + ["--json"]).run(), 5, "conflict")
            report.expectOnlyConflict("D")
        }
        #expect(platform.records("D") == ["production=theirs"])
        var follower = follower
        follower.isThorough = true
        let arrival = try follower.arrives(after: failing, status: 5)
        #expect(arrival.typed.map { $0[0] } == ["pull", "rm"])
        #expect(platform.records("D") == [])
        try follower.expectHeld(["mine", "theirs"], of: ["D"])
        #expect(try notLive() == ["D"])
    }

    @Test("SYNC-M25: push --force deletes or narrows what took a removed variable's scope")
    func forced() throws {
        try platform.set("E", "mine", "-t", "production")
        try platform.pushed()
        try acts(
            "remove,key=D", "create,key=D,value=theirs,targets=production",
            "remove,key=E", "create,key=E,value=theirs,targets=production+preview")
        for key in ["D", "E"] { done(try platform.run("rm", key, "-p", "web", "--yes")) }
        try platform.setFaults("DELETE * 503")
        #expect(try platform.push("--force").end != .exited(0))
        try platform.setFaults()
        #expect(try platform.push().status == 5)
        try platform.pushed("--force")
        #expect(platform.records("D") == [] && platform.records("E") == ["preview=theirs"])
        try platform.pushed().expectNothing()
        let rows = try json(platform.run("list", "-p", "web", "--json"))["variables"]?.elements
        #expect(rows?.map { $0["key"] } == ["D", "E"])
        #expect(rows?.allSatisfy { $0["removed"] == true && $0["live"] == false } == true)
    }

    @Test("SYNC-M25: what is created after a confirmed removal is left alone")
    func madeLater() throws {
        done(try platform.run("rm", "D", "-p", "web", "--yes", "--push"))
        #expect(try notLive() == ["D"])
        // Within the removal's second the order would be unknown.
        platform.server.advanceClock(bySeconds: 5)
        try acts("create,key=D,value=theirs,targets=production")
        try platform.pushed().expectNothing()
        // Production still has the removed one, and is to have another one.
        #expect(try notLive() == ["D"])
        let plan = try json(platform.run("redeploy", "-p", "web", "--dry-run", "--json"))
        #expect(plan["removedVariables"] == [])
        #expect(platform.records("D") == ["production=theirs"])
    }

    @Test(
        "SYNC-M25: a read before the removal decides nothing either",
        arguments: ["list", "push", "redeploy"], ["production", "preview", "qa"])
    func lookedBefore(look: String, target: String) throws {
        try platform.set("F", "mine", "-t", target)
        try platform.pushed("F")
        try acts("remove,key=F", "create,key=F,value=theirs,targets=\(target)")
        switch look {
        case "list": done(try platform.run("list", "-p", "web", "--refresh"))
        case "redeploy": done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        default: #expect(try platform.push().status == 5)
        }
        done(try platform.run("rm", "F", "-p", "web", "--yes"))
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("F")
        done(
            try look == "redeploy"
                ? platform.run("redeploy", "-p", "web", "--yes", "--wait")
                : platform.run("list", "-p", "web", "--refresh"))
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("F")
        try platform.pushed("--force")
        #expect(platform.records("F") == [])
    }

    @Test("SYNC-M25: one that comes and goes does not change whether a removal is live")
    func comesAndGoes() throws {
        done(try platform.run("rm", "D", "-p", "web", "--yes", "--push"))
        try acts("create,key=D,value=theirs,targets=production")
        done(try platform.run("list", "-p", "web", "--refresh"))
        try acts("remove,key=D")
        try platform.pushed().expectNothing()
        #expect(try notLive() == ["D"])
        let plan = try json(platform.run("redeploy", "-p", "web", "--dry-run", "--json"))
        #expect(plan["removedVariables"] == ["D"])
    }

    @Test("SYNC-M25: push --force leaves alone what is created after a confirmed rename")
    func madeAfterRename() throws {
        done(try platform.run("rename", "D", "E", "-p", "web"))
        try acts("remove,key=D")
        // What a list showed decides nothing; a pull keeps since when the place is empty.
        #expect(try platform.run("pull", "-p", "web", "--yes").status == 5)
        platform.server.advanceClock(bySeconds: 5)
        try acts("create,key=D,value=theirs,targets=production")
        #expect(try platform.push().status == 5)
        try platform.pushed("E", "--force")
        #expect(platform.records("D") == ["production=theirs"])
        #expect(platform.records("E") == ["production,preview=mine"])
    }

    @Test("SYNC-M25: one record in several left scopes is removed from all of them")
    func severalPlaces() throws {
        try platform.set("F", "p", "-t", "production")
        try platform.set("F", "v", "-t", "preview")
        try platform.pushed("F")
        try acts(
            "remove,key=F,targets=production", "remove,key=F,targets=preview",
            "create,key=F,value=theirs,targets=production+preview")
        done(try platform.run("rm", "F", "-p", "web", "--all", "--yes"))
        let result = try platform.run("push", "-p", "web", "--yes")
        #expect(result.end == .exited(5))
        #expect(
            PrintedCommands.all(in: result.error).contains([
                "rm", "F", "-p", "web", "-t", "production,preview", "--push",
            ]), "\(result.error)")
        try platform.pushed("--force")
        #expect(platform.records("F") == [])
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-M25: a push of some targets deletes nothing in others")
    func someTargets() throws {
        done(try platform.run("rm", "D", "-p", "web", "--yes"))
        try acts(
            "remove,key=D", "create,key=D,value=one,targets=production",
            "create,key=D,value=two,targets=preview")
        done(try platform.run("push", "-p", "web", "-t", "preview", "--force", "--yes"))
        #expect(platform.records("D") == ["production=one"])
        #expect(try platform.push().status == 5)
    }

    @Test("SYNC-M25: the advice for a partly taken scope removes that part only")
    func renamedAndTaken() throws {
        try acts("set,key=D,newTargets=production", "create,key=D,value=theirs,targets=preview")
        done(try platform.run("rename", "D", "E", "-p", "web"))
        let result = try platform.run("push", "-p", "web", "--yes")
        #expect(result.end == .exited(5))
        let printed = PrintedCommands.all(in: result.error).prefix(2)
        #expect(
            Array(printed) == [
                ["pull", "D", "E", "-p", "web", "--force"],
                ["rm", "D", "-p", "web", "-t", "preview", "--push"],
            ], "\(result.error)")
        for words in printed { done(try platform.runner(words + ["--yes"]).run()) }
        #expect(platform.records("D") == ["production=mine"])
        try platform.pushed().expectNothing()
        try follower.expectHeld(["mine", "theirs"], of: ["D", "E"])
    }

    @Test("SYNC-M25: redeploy does not claim to remove what was created again since")
    func madeBeforeRedeploy() throws {
        done(try platform.run("rm", "D", "-p", "web", "--yes", "--push"))
        try acts("create,key=D,value=theirs,targets=production")
        let plan = try json(platform.run("redeploy", "-p", "web", "--dry-run", "--json"))
        #expect(plan["removedVariables"] == [])
    }

    @Test("SYNC-M25: one that is created while a push deletes is a conflict")
    func madeMeanwhile() throws {
        try platform.setFaults("DELETE * then:create,key=D,value=theirs,targets=production")
        done(try platform.run("rm", "D", "-p", "web", "--yes"))
        let (report, message) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["D"] && report.keys("deleted") == ["D"])
        #expect(message.contains("zg-env pull D"), "\(message)")
        #expect(platform.records("D") == ["production=theirs"])
    }

    @Test("SYNC-M31: another variable in place of a renamed sensitive one is reported")
    func renamedSensitive() throws {
        try platform.set("S", "mine", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        done(try platform.run("rename", "S", "T", "-p", "web"))
        try platform.setFaults("DELETE * 403")
        #expect(try platform.push().end != .exited(0))
        try platform.setFaults()
        try acts("remove,key=S", "create,key=S,value=theirs,targets=production")
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        report.expectOnlyConflict("S")
        #expect(platform.records("S") == ["production=theirs"])
        #expect(platform.records("T") == ["production=mine"])
    }

    @Test("SYNC-M30: one that is created while a push renames or narrows is a conflict too")
    func madeBesideChange() throws {
        try platform.setFaults("PATCH * then:create,key=D,value=theirs,targets=preview")
        done(try platform.run("rm", "D", "-p", "web", "-t", "preview", "--yes"))
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["D"] && report.keys("updated") == ["D"])
        #expect(platform.records("D") == ["preview=theirs", "production=mine"])
    }

    @Test(
        "SYNC-M26: rm --push names the records that Vercel keeps, and --all fails then",
        arguments: ["rm", "rm -t", "rm --all"])
    func elsewhere(way: String) throws {
        try platform.set("F", "mine", "-t", "production")
        try platform.pushed("F")
        try acts("create,key=F,value=theirs,targets=development")
        let options = ["rm": [], "rm -t": ["-t", "production"], "rm --all": ["--all"]][way] ?? []
        let result = try platform.runner(
            ["rm", "F", "-p", "web", "--push", "--yes"] + options
        ).run()
        let isAll = way == "rm --all"
        #expect(result.end == .exited(isAll ? 5 : 0), "\(result.error)")
        #expect(result.error.contains("development"), "\(result.error)")
        #expect(result.error.contains("zg-env pull F -p web"), "\(result.error)")
        #expect(
            platform.records("F")
                == (isAll
                    ? ["development=theirs", "production=mine"] : ["development=theirs"]))
        var follower = follower
        follower.isThorough = true
        try follower.follows(result.error)
        #expect(platform.records("F") == [])
        try follower.expectHeld(["mine", "theirs"], of: ["F"])
    }

    @Test(
        "SYNC-M27: a left scope that somebody gave to another record is a conflict",
        arguments: ["push", "rm --push", "push --force"])
    func narrowed(way: String) throws {
        try acts(
            "set,key=D,newTargets=production", "create,key=D,value=theirs,targets=preview")
        let remove = ["rm", "D", "-p", "web", "-t", "preview", "--yes"]
        let failing = way == "rm --push" ? remove + ["--push"] : ["push", "-p", "web", "--yes"]
        if way != "rm --push" { done(try platform.runner(remove).run()) }
        if way == "push --force" {
            #expect(try platform.runner(failing).run().status == 5)
            try platform.pushed("--force")
            #expect(platform.records("D") == ["production=mine"])
        } else {
            let arrival = try follower.arrives(after: failing, status: 5)
            #expect(
                arrival.said.contains("that the vault has no record of"))
            try follower.expectHeld(["mine", "theirs"], of: ["D"])
        }
        try platform.pushed().expectNothing()
    }

    @Test(
        "SYNC-M33: harden leaves alone what somebody created in a scope that the vault left",
        arguments: [false, true])
    func hardened(isNarrowed: Bool) throws {
        try acts(
            isNarrowed ? "set,key=D,newTargets=production" : "remove,key=D",
            "create,key=D,value=theirs,targets=preview")
        let target = isNarrowed ? ["-t", "preview"] : []
        done(try platform.runner(["rm", "D", "-p", "web", "--yes"] + target).run())
        let failing = ["harden", "D", "-p", "web", "--yes"]
        let result = try platform.runner(failing).run()
        #expect(result.end == .exited(5), "\(result.error)")
        #expect(
            platform.records("D")
                == (isNarrowed ? ["preview=theirs", "production=mine"] : ["preview=theirs"]))
        #expect(platform.stored.allSatisfy { $0.type != "sensitive" })
        // It is resolved as by a push.
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("D")
        try platform.pushed("--force")
        #expect(platform.records("D") == (isNarrowed ? ["production=mine"] : []))
    }

    @Test("SYNC-M28: a custom environment that Vercel no longer has can be resolved")
    func missingEnvironment() throws {
        try platform.set("Q", "mine", "-t", "production,gone")
        let result = try platform.run("push", "-p", "web", "--yes")
        #expect(result.end == .exited(2))
        #expect(
            PrintedCommands.all(in: result.error) == [["rm", "Q", "-p", "web", "-t", "gone"]],
            "\(result.error)")
        done(try platform.run("rm", "Q", "-p", "web", "-t", "gone", "--yes"))
        try platform.pushed()
        #expect(platform.records("Q") == ["production=mine"])
    }
}
