import JSON
import Sandbox
import TestSupport
import Testing

/// Findings of ``ModelTests``, in the fewest steps.
@Suite("Findings of the model")
struct ModelFindingTests {
    private let platform: SandboxHome

    init() throws {
        platform = try SandboxHome()
    }

    @Test(
        "SYNC-M1: a change during a push of a variable that it did not touch is a conflict",
        arguments: [false, true])
    func untouched(isNamed: Bool) throws {
        try platform.set("A", "one", "-t", "production")
        try platform.set("B", "one", "-t", "production")
        try platform.pushed()
        try platform.set("A", "two")
        try platform.setFaults("PATCH * before:set,key=B,value=theirs")
        if isNamed {
            // Variables outside the push are not reported, but recorded.
            #expect(try platform.pushed("A").keys("updated") == ["A"])
        } else {
            let (report, message) = try failedReport(try platform.push(), 5, "conflict")
            #expect(report.keys("updated") == ["A"])
            #expect(report.keys("conflicts") == ["B"] && report.keys("unchanged") == [])
            #expect(
                report.reasons("conflicts") == ["it was changed on Vercel by another user"])
            #expect(message.contains("The other changes were applied."), "\(message)")
        }
        #expect(try platform.sync("B") == "behind")
        #expect(platform.records("A") == ["production=two"])
        #expect(platform.records("B") == ["production=theirs"])
    }

    @Test(
        "SYNC-M3: a value set right before a push of the scope is not taken for the vault's",
        arguments: ["push", "set"])
    func hiddenValue(command: String) throws {
        try platform.set("A", "one", "-t", "production,preview")
        try platform.pushed()
        try platform.setFaults("PATCH * before:set,key=A,value=theirs")
        if command == "push" {
            done(try platform.run("rm", "A", "-p", "web", "-t", "preview", "--yes"))
            let (report, _) = try failedReport(try platform.push(), 5, "conflict")
            #expect(
                report.reasons("conflicts") == [
                    "its value was changed on Vercel right before the update"
                ])
        } else {
            // Another one takes preview.
            let set = platform.runner(
                ["set", "A", "-p", "web", "-t", "preview", "--push", "--yes", "--json"],
                input: .text("two"))
            #expect(try set.run().end == .exited(5))
            #expect(platform.records("A") == ["preview=two", "production=theirs"])
            done(try platform.run("rm", "A", "-p", "web", "-t", "preview", "--yes", "--push"))
        }
        #expect(try platform.sync("A") == "behind")
        #expect(platform.records("A") == ["production=theirs"])
        // It is not overwritten either, and a pull takes it.
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("A")
        done(try platform.run("pull", "-p", "web", "--yes"))
        #expect(try platform.home.revealed("A") == Array("theirs".utf8))
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-M5: a change of scope that was acknowledged and not stored has failed")
    func lostScope() throws {
        try platform.set("A", "one", "-t", "production,preview")
        try platform.pushed()
        done(try platform.run("rm", "A", "-p", "web", "-t", "preview", "--yes"))
        try platform.setFaults("PATCH * stores-nothing")
        let (report, _) = try failedReport(try platform.push(), 1, "failed")
        #expect(report.keys("failed") == ["A"])
        #expect(report.keys("conflicts") == [])
        #expect(try platform.sync("A") == "ahead")
        #expect(platform.records("A") == ["production,preview=one"])
        platform.server.setFaults([])
        #expect(try platform.pushed().keys("updated") == ["A"])
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-M6: a value set before a change that was not stored is not called synced")
    func lostBehindAnother() throws {
        try platform.set("S", "one", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("S", "two")
        try platform.setFaults("PATCH * before:set,key=S,value=theirs", "PATCH * stores-nothing")
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("S")
        #expect(try platform.sync("S") == "behind")
        platform.server.setFaults([])
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("S")
        #expect(platform.records("S") == ["production=theirs"])
    }

    @Test("SYNC-M7: harden does not send a value again over somebody's readable one")
    func hardenedAgain() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.setFaults("PATCH * before:set,key=A,value=theirs,by=self", "PATCH * 503 x1")
        let result = try platform.run("harden", "A", "-p", "web", "--yes", "--json")
        #expect(result.end == .exited(5), "\(result.output)\(result.error)")
        #expect(platform.records("A") == ["production=theirs"])
        #expect(platform.stored.first { $0.key == "A" }?.type == "encrypted")
    }

    @Test("SYNC-M8: an answer to a change that names another record is not taken for this one's")
    func anotherRecord() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.set("A", "two")
        try platform.setFaults("PATCH * escapes:all x1")
        #expect(try platform.pushed().keys("updated") == ["A"])
        #expect(try platform.sync("A") == "synced")
        #expect(platform.records("A") == ["production=two"])
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-M4: push --force replaces one record that conflicts with several")
    func severalInTheWay() throws {
        for (targets, left) in [
            ("production,preview", []), ("production,preview,development", ["development=theirs"]),
        ] {
            let platform = try SandboxHome()
            let there = JSONValue.array(targets.split(separator: ",").map { .string(String($0)) })
            try platform.create("A", "theirs", ["target": there])
            try platform.set("A", "one", "-t", "production")
            try platform.set("A", "two", "-t", "preview")
            _ = try platform.pushed("--force")
            #expect(platform.records("A") == left + ["preview=two", "production=one"])
            try platform.pushed().expectNothing()
        }
    }

    @Test("SYNC-M9: list shows what a rotation saw before it would have revoked the old value")
    func seenBeforeRevoking() throws {
        try platform.set("A", "one", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.setFaults("POST */deployments then:set,key=A,value=theirs,by=self")
        let rotation = try platform.runner(
            [
                "rotate", "A", "-p", "web", "--raw", "--yes", "--redeploy", "--check", "true",
                "--revoke", "true",
            ], input: .text("two")
        ).run()
        #expect(rotation.end == .exited(11), "\(rotation.error)")
        #expect(try platform.sync("A") == "behind")
    }

    @Test(
        "SYNC-M10: what was made sensitive there, and changed here, comes in step as it is printed")
    func hardenedElsewhere() throws {
        try platform.set("A", "one", "-t", "production,preview")
        try platform.pushed()
        let act = "set,key=A,value=theirs,type=sensitive,by=self"
        try platform.server.perform(try #require(Act(act)))
        done(try platform.run("rm", "A", "-p", "web", "-t", "preview", "--yes"))
        let pull = try platform.run("pull", "-p", "web", "--yes")
        #expect(pull.end == .exited(5) && !pull.error.contains("pull A"), "\(pull.error)")
        let harden = try platform.run("harden", "A", "-p", "web", "--yes")
        #expect(harden.end == .exited(5))
        #expect(harden.error.contains("zg-env push A -p web"), "\(harden.error)")
        // Vercel's stricter type stays.
        #expect(try platform.pushed("A", "--force").keys("updated") == ["A"])
        #expect(platform.records("A") == ["production=one"])
        #expect(platform.stored.first { $0.key == "A" }?.type == "sensitive")
        try platform.pushed().expectNothing()
    }

    @Test(
        "SYNC-M11: what was set, and removed, and changed there unseen is removed as it is printed")
    func removedElsewhere() throws {
        try platform.set("A", "one", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("A", "two")
        done(try platform.run("rm", "A", "-p", "web", "--all", "--yes"))
        let act = try #require(Act("set,key=A,value=theirs,by=self"))
        try platform.server.perform(act)
        for command in ["pull", "push"] {
            let result = try platform.run(command, "-p", "web", "--yes")
            #expect(result.end == .exited(5), "\(result.error)")
            #expect(!result.error.contains("pull A"), "\(result.error)")
        }
        try AdviceFollower(platform: platform).arrives(
            after: ["pull", "-p", "web", "--yes"], status: 5)
        #expect(platform.records("A") == [])
    }

    @Test(
        "SYNC-M12: a variable recreated on Vercel can be overwritten",
        arguments: ["encrypted", "sensitive"], ["production", "production+preview"])
    func madeAgain(type: String, targets: String) throws {
        try platform.set("A", "one", "-t", "production", "--type", type)
        try platform.pushed()
        for act in [
            "remove,key=A", "create,key=A,value=theirs,type=\(type),targets=\(targets)",
        ] {
            try platform.server.perform(try #require(Act(act)))
        }
        try platform.set("A", "two")
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("A")
        _ = try platform.pushed("A", "--force")
        #expect(platform.records("A").contains("production=two"))
        #expect(try platform.sync("A") == "synced")
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-M14: a change that was sent twice, and may have arrived, is not called unsent")
    func sentAgain() throws {
        try platform.set("A", "one", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("A", "two")
        try platform.setFaults(
            "PATCH */env/* truncate x1 @2", "PATCH */env/* stores-nothing x1")
        let (_, message) = try failedReport(try platform.push(), 1, "failed")
        #expect(!message.contains("Nothing was sent"), "\(message)")
        try platform.setFaults()
        _ = try platform.pushed()
        #expect(platform.records("A") == ["production=two"])
        #expect(try platform.sync("A") == "synced")
    }

    @Test(
        "SYNC-M2: a change on a broken connection is not repeated without a read",
        arguments: ["set", "rm"], ["before", "then"])
    func cut(kind: String, moment: String) throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        if kind == "set" {
            try platform.set("A", "mine")
        } else {
            done(try platform.run("rm", "A", "-p", "web", "--yes"))
        }
        let method = kind == "set" ? "PATCH" : "DELETE"
        try platform.setFaults(
            "\(method) * reset x1", "\(method) * \(moment):set,key=A,value=theirs")
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["A"])
        #expect(platform.records("A") == ["production=theirs"])
    }

    @Test("SYNC-M15: an unsent comment does not resolve a push without an answer")
    func unheardComment() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.server.perform(try #require(Act("set,key=A,comment=theirs")))
        try platform.setFaults("PATCH * before:touch,key=A,by=self x1", "PATCH * 503 x1")
        let (report, _) = try failedReport(try platform.push("--force"), 5, "conflict")
        #expect(report.keys("updated") == [])
        #expect(try platform.sync("A") != "synced")
        try platform.setFaults()
        #expect(try platform.pushed("--force").keys("updated") == ["A"])
        #expect(try platform.sync("A") == "synced")
    }

    @Test("SYNC-M21: a new name that was answered and not read back is not called synced")
    func unprovedName() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        done(try platform.run("rename", "A", "B", "-p", "web"))
        try platform.setFaults("PATCH * stores-nothing x1", "GET */env 403 @3")
        #expect(try platform.push().end != .exited(0))
        #expect(try platform.sync("B") == "ahead")
        try platform.setFaults()
        #expect(try platform.pushed().keys("updated") == ["B"])
        #expect(platform.records("A") == [] && platform.records("B") == ["production=one"])
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-M22: a variable whose value was not shown yet gets no new name on Vercel")
    func awaitedValue() throws {
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "A", "value": "theirs", "type": "encrypted", "target": ["production"]])
        try platform.setFaults("GET */env/* hides-values")
        done(try platform.run("pull", "-p", "web", "--yes"))
        try platform.setFaults()
        #expect(try platform.sync("A") == "behind")
        failed(
            try platform.run("rename", "A", "B", "-p", "web"), 5,
            "cannot be created on Vercel under a new name", "zg-env set A -p web")
        done(try platform.run("pull", "-p", "web", "--yes"))
        done(try platform.run("rename", "A", "B", "-p", "web"))
        try platform.pushed()
        #expect(platform.records("A") == [] && platform.records("B") == ["production=theirs"])
    }

    @Test("SYNC-M32: a value set right before a forced push of the comment is a conflict")
    func valueBehindComment() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        done(try platform.run("restore-version", "A", "1", "-p", "web"))
        try platform.server.perform(try #require(Act("set,key=A,comment=theirs")))
        try platform.setFaults("PATCH * before:set,key=A,value=theirs")
        let result = try platform.run("push", "-p", "web", "--force", "--yes", "--json")
        try failedReport(result, 5, "conflict").report.expectOnlyConflict("A")
        #expect(try platform.sync("A") == "behind")
        #expect(platform.records("A") == ["production=theirs"])
    }

    @Test("SYNC-M23: a comment written in the same second as a batch change is a conflict")
    func commentInTheWindow() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.set("B", "one", "-t", "production")
        try platform.pushed()
        try platform.set("A", "two", "-t", "production")
        try platform.set("B", "two", "-t", "production")
        try platform.setFaults("POST */env before:set,key=A,comment=theirs,by=self")
        let (report, _) = try failedReport(platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["A"])
        #expect(platform.records("A") == ["production=two"])
        #expect(try platform.sync("A") == "diverged")
        #expect(try platform.sync("B") == "synced")
        done(try platform.run("pull", "A", "-p", "web", "--force", "--yes"))
        #expect(try platform.sync("A") == "synced")
    }

    @Test(
        "SYNC-M34: another value in place of a sent one that was not acknowledged is a conflict",
        arguments: [true, false])
    func unreadReplacement(isNew: Bool) throws {
        if !isNew {
            try platform.set("A", "one", "-t", "production")
            try platform.pushed()
        }
        try platform.set("A", "two", "-t", "production")
        let request = isNew ? "POST */env" : "PATCH *"
        try platform.setFaults(
            "\(request) then:set,key=A,value=theirs,by=self x1", "\(request) lost-answer x1",
            "GET */env/* 403")
        #expect(try platform.push().end != .exited(0))
        try platform.setFaults()
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("A")
        #expect(platform.records("A") == ["production=theirs"])
    }

    @Test("SYNC-M35: after an error, another repair is sent only after another listing")
    func listingAfterError() throws {
        for key in ["A", "B"] { try platform.set(key, "one", "-t", "production") }
        try platform.pushed()
        for key in ["A", "B"] { try platform.set(key, "two") }
        try platform.setFaults("POST */env stores-nothing x1", "PATCH * 400")
        let requests = try platform.requests {
            _ = try failedReport(try platform.push(), 1, "failed")
        }
        let changes = requests.split(whereSeparator: { $0.hasPrefix("PATCH ") })
        #expect(requests.count(where: { $0.hasPrefix("PATCH ") }) == 2)
        for between in changes.dropFirst().dropLast() {
            #expect(between.contains { $0.hasSuffix("/env") }, "\(requests)")
        }
    }

    @Test("SYNC-M36: a change during a push of a variable that it found equal is a conflict")
    func untouchedAdopted() throws {
        let created = "create,key=A,value=one,targets=production,type=encrypted"
        try platform.server.perform(try #require(Act(created)))
        try platform.set("A", "one", "-t", "production")
        try platform.set("B", "one", "-t", "production")
        try platform.setFaults("POST */env before:set,key=A,value=theirs")
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("created") == ["B"])
        #expect(report.keys("conflicts") == ["A"])
        #expect(try platform.sync("A") == "behind")
        #expect(platform.records("A") == ["production=theirs"])
    }

    @Test(
        "SYNC-M37: rm and set with --push also free the place of a value that may have been sent",
        arguments: ["narrow", "remove", "set"])
    func freedAfterLostAnswer(change: String) throws {
        try platform.set("A", "one", "-t", "production,preview")
        try platform.setFaults("POST */env lost-answer x1", "GET */env/* 403")
        #expect(try platform.push().end != .exited(0))
        #expect(platform.records("A") == ["production,preview=one"])
        try platform.setFaults()
        let common = ["-p", "web", "--push", "--yes", "--json"]
        switch change {
        case "narrow":
            done(try platform.runner(["rm", "A", "-t", "production"] + common).run())
            #expect(platform.records("A") == ["preview=one"])
        case "remove":
            done(try platform.runner(["rm", "A", "--all"] + common).run())
            #expect(platform.records("A") == [])
        default:
            let set = platform.runner(
                ["set", "A", "-t", "production"] + common, input: .text("two"))
            done(try set.run())
            #expect(platform.records("A") == ["preview=one", "production=two"])
        }
    }

    @Test("SYNC-M38: set --push compares a value that may have been sent with what Vercel shows")
    func replacedAfterLostAnswer() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.setFaults(
            "POST */env then:set,key=A,value=theirs,by=self x1", "POST */env lost-answer x1",
            "GET */env/* 403")
        #expect(try platform.push().end != .exited(0))
        try platform.setFaults()
        let set = platform.runner(
            ["set", "A", "-p", "web", "-t", "production", "--push", "--yes", "--json"],
            input: .text("two"))
        #expect(try set.run().end == .exited(5))
        #expect(platform.records("A") == ["production=theirs"])
    }

    @Test("SYNC-M39: a pull during which a variable is replaced does not report it as deleted")
    func replacedDuringPull() throws {
        let created = "create,key=A,value=one,targets=production,type=encrypted"
        try platform.server.perform(try #require(Act(created)))
        done(try platform.pull())
        try platform.server.perform(try #require(Act("set,key=A,value=two")))
        try platform.setFaults(
            "GET */env then:remove,key=A x1",
            "GET */env before:create,key=A,value=three,targets=production,type=encrypted @2")
        let result = try platform.pull()
        #expect(result.end == .exited(5))
        #expect(
            result.error.contains("web got new variables on Vercel while the command was running"))
        try platform.setFaults()
        done(try platform.pull("--yes"))
        #expect(try platform.sync("A") == "synced")
        #expect(platform.records("A") == ["production=three"])
    }

    @Test("SYNC-M40: a pull reports a variable that is left without an environment on Vercel")
    func withoutEnvironment() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.setFaults("POST */env drops-target x1", "PATCH * 403")
        #expect(try platform.push().end != .exited(0))
        #expect(platform.records("A") == ["=one"])
        try platform.setFaults()
        let report = try json(try platform.pull("--json"))
        #expect(report.reasons("skipped") == ["it has no environment on Vercel"])
        try platform.pushed()
        #expect(platform.records("A") == ["production=one"])
    }

    @Test("SYNC-M40: a synced variable that loses its environment is behind until push --force")
    func losesEnvironment() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.setFaults("PATCH * drops-target x1")
        let path = "/v9/projects/web/env/\(try platform.id("A"))"
        try platform.teammate.send("PATCH", path, ["comment": "new"])
        try platform.setFaults()
        let pulled = try json(try platform.pull("--json"))
        #expect(pulled.reasons("skipped") == ["it has no environment on Vercel"])
        #expect(try platform.sync("A") == "behind")
        #expect(try platform.push().end == .exited(5))
        #expect(platform.records("A") == ["=one"])
        let report = try platform.pushed("A", "--force")
        #expect(report.keys("created") == ["A"] && report.keys("deleted") == ["A"])
        #expect(platform.records("A") == ["production=one"])
    }
}
