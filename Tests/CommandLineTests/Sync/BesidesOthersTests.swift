import Foundation
import Sandbox
import TestSupport
import Testing

/// Commands that meet another one on the same machine, or continue after one that failed half-way.
@Suite("Sync: beside other commands")
struct BesidesOthersTests {
    private let platform: SandboxHome

    init() throws {
        platform = try SandboxHome()
    }

    /// Runs a command that waits for a running push, and another one while it waits.
    private func waiting(
        _ words: [String], _ value: String, meanwhile: ProgramRunner
    ) throws -> ProgramResult {
        try platform.pushed()
        let lock = try HeldLock(ofFile: platform.home.vaultPath + ".push.lock")
        var runner = platform.runner(words, input: .text(value))
        runner.script = [
            (
                .error("Waiting for another push or pull"),
                .call { _, _ in
                    do { done(try meanwhile.run()) } catch { Issue.record("\(error)") }
                    lock.release()
                }
            )
        ]
        let result = try runner.run()
        #expect(result.stepsDone == 1)
        return result
    }

    @Test(
        "SYNC-M16: a value that was replaced in the vault meanwhile is not sent",
        arguments: ["set", "set new", "import", "rename", "rm"])
    func heldValue(way: String) throws {
        try platform.set("C", "one", "-t", "production")
        if way != "set new" {
            try platform.set("A", "first", "-t", "production")
            try platform.pushed()
        }
        let words =
            way == "import"
            ? ["import", "-", "-p", "web", "-t", "production", "--yes", "--push"]
            : ["set", "A", "-p", "web", "-t", "production", "--push", "--yes"]
        let other =
            switch way {
            case "rename": platform.runner(["rename", "A", "B", "-p", "web"])
            case "rm": platform.runner(["rm", "A", "-p", "web", "--all", "--yes"])
            default:
                platform.runner(
                    ["set", "A", "-p", "web", "-t", "production"], input: .text("two"))
            }
        let result = try waiting(words, way == "import" ? "A=one\n" : "one", meanwhile: other)
        #expect(result.end == .exited(5), "\(result.output) \(result.error)")
        #expect(result.error.contains("by another command"), "\(result.error)")
        #expect(platform.records("A") == (way == "set new" ? [] : ["production=first"]))
        if way == "rename" || way == "rm" { return }
        #expect(try platform.sync("A") == (way == "set new" ? "local" : "ahead"))
        try platform.pushed()
        #expect(platform.records("A") == ["production=two"])
        #expect(try platform.sync("A") == "synced")
    }

    /// Others may have a conflict, be pulled, or fail again in between.
    @Test(
        "SYNC-M17: a later push deletes what a push could not",
        arguments: ["again", "conflict", "pull", "listing"])
    func deletion(between: String) throws {
        try platform.set("A", "secret", "-t", "production", "--type", "sensitive")
        try platform.set("C", "one", "-t", "production")
        try platform.pushed()
        done(try platform.run("rename", "A", "B", "-p", "web"))
        try platform.setFaults("DELETE * 503")
        #expect(try platform.push().end != .exited(0))
        switch between {
        case "conflict":
            try platform.server.perform(try #require(Act("set,key=C,value=theirs")))
            try platform.set("C", "mine")
            #expect(try platform.push().end == .exited(5))
            try platform.setFaults()
            try platform.pushed("C", "--force")
        case "pull":
            let report = try json(platform.run("pull", "-p", "web", "--yes", "--json"))
            #expect(report.keys("skipped") == ["A"] && !report.keys("created").contains("A"))
        case "listing":
            try platform.setFaults("GET */env 503", "DELETE * 503")
            #expect(try platform.push().end != .exited(0))
        default:
            #expect(try platform.push().end != .exited(0))
        }
        try platform.setFaults()
        #expect(platform.records("A") == ["production=secret"])
        #expect(try platform.pushed().keys("deleted") == ["A"])
        #expect(platform.records("A") == [] && platform.records("B") == ["production=secret"])
        try platform.pushed().expectNothing()
    }

    @Test(
        "SYNC-M18: with a token in the environment a colleague's hidden value is not overwritten",
        arguments: [false, true])
    func colleague(isUnknown: Bool) throws {
        try platform.set("R", "first", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        let server = platform.server
        try platform.setFaults(
            "PATCH * lost-answer x1", "PATCH * then:set,key=R,value=theirs,by=other",
            isUnknown ? "GET /user 403" : "GET /none 403")
        var runner = platform.runner(
            ["set", "R", "-p", "web", "--push", "--yes"], input: .text("second"))
        runner.environment["VERCEL_TOKEN"] = platform.token
        let result = try runner.run()
        #expect(result.end == .exited(5), "\(result.output) \(result.error)")
        server.setFaults([])
        #expect(platform.records("R") == ["production=theirs"])
        #expect(try platform.sync("R") != "synced")
    }

    @Test("SYNC-M19: no redeploy is advised for a variable that was to be recreated and was not")
    func unmade() throws {
        try platform.set("D", "one", "-t", "production")
        try platform.pushed()
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        try platform.server.perform(try #require(Act("set,key=D,type=sensitive")))
        try platform.setFaults("POST */env 400")
        let result = try platform.run(
            "push", "D", "-p", "web", "--force", "--allow-weaker", "--yes")
        #expect(result.end == .exited(1))
        #expect(!result.error.contains("zg-env redeploy"), "\(result.error)")
        #expect(platform.records("D") == [])
        try platform.setFaults()
        // It would still become readable.
        try platform.pushed("--allow-weaker")
        #expect(platform.records("D") == ["production=one"])
    }

    @Test("USE-B11: a version that is current again is live if production was built with it")
    func restored() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        try platform.set("A", "two")
        try platform.pushed()
        done(try platform.run("restore-version", "A", "-p", "web", "1", "--yes"))
        try platform.pushed()
        let list = try json(platform.run("list", "A", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["live"] == true)
    }

    @Test("SYNC-M20: a redeploy sees a change made right before it")
    func unseenByRedeploy() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.server.perform(try #require(Act("set,key=A,value=theirs,by=other")))
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        #expect(try platform.sync("A") == "behind")
    }

    @Test(
        "SYNC-M17: an old record is deleted only if the new one exists",
        arguments: ["push", "pull", "pull B"])
    func successor(way: String) throws {
        try platform.set("A", "secret", "-t", "preview", "--type", "sensitive")
        try platform.pushed()
        done(try platform.run("rename", "A", "B", "-p", "web"))
        try platform.setFaults("POST */env stores-nothing x9")
        #expect(try platform.push().end != .exited(0))
        #expect(try platform.push().end != .exited(0))
        #expect(platform.records("A") == ["preview=secret"])
        if way == "pull B" {
            // The vault gives the new name up, and Vercel only has the old one.
            try platform.setFaults()
            done(try platform.run("pull", "B", "-p", "web", "--yes", "--force"))
            #expect(try platform.push().end == .exited(0))
            #expect(platform.records("A") == ["preview=secret"])
            return
        }
        if way == "pull" {
            done(try platform.run("pull", "-p", "web", "--yes", "--force"))
            #expect(try platform.push().end == .exited(0))
            #expect(platform.records("A") == ["preview=secret"])
            return
        }
        try platform.setFaults()
        #expect(try platform.pushed("--force").keys("created") == ["B"])
        #expect(platform.records("A") == [] && platform.records("B") == ["preview=secret"])
    }

    @Test("SYNC-M24: a token limited to a team links no other project")
    func limitedToken() throws {
        let other = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme", "name": "Acme"}],
                 "tokens": [{"name": "limited", "token": "tokacme", "team": "acme"}],
                 "projects": [{"name": "web"}, {"name": "web", "team": "acme"}]}
                """)
        try other.set("A", "one", "-t", "production")
        try other.pushed()
        done(try other.run("login", "--name", "limited", input: .text("tokacme\n")))
        done(try other.run("account", "use", "limited"))
        try other.set("A", "two", "-t", "production")
        failed(
            try other.run("push", "-p", "web", "--yes"), 6, "has no access",
            "zg-env account use dev")
        failed(try other.run("link", "web", "--force"), 5, "still exists")
        // The account that would know gets no answer: nothing counts as deleted.
        try other.setFaults("GET /projects/prj_* 429:600 @2 x9")
        #expect(try other.run("link", "web", "--force").status == 7)
        try other.setFaults()
        done(try other.run("push", "-p", "web", "--yes", "--account", "dev"))
        #expect(try other.sync("A") == "synced")
    }
}
