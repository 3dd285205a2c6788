import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// What a newcomer meets on the first day, and what the messages of that day say.
@Suite("a newcomer") struct NewcomerTests {
    @Test func `D1: -p supplies PROJECT`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "one")
        let set = try platform.run("notify", "set", "-p", "web", "--on", "failed", "--json")
        #expect(set.status == 0, "\(set.error)")
        #expect(set.output.contains("\"web\""), "\(set.output)")
        // Two that differ are refused as before.
        let other = try platform.run("notify", "set", "api", "-p", "web", "--on", "failed")
        #expect(other.status == 2 && other.error.contains("different projects"))
        // Without either there is nothing to take.
        let none = try platform.run("share", "--group", "x", "--at", "/nonexistent")
        #expect(none.status == 2, "\(none.error)")
    }

    @Test func `D5: history shows the versions of a target`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "one", "-t", "production")
        try platform.set("KEY", "two", "-t", "preview")
        let all = try json(platform.run("history", "KEY", "-p", "web", "--json"))
        #expect(all["versions"]?.elements.count == 2)
        let one = try json(
            platform.run("history", "KEY", "-p", "web", "-t", "preview", "--json"))
        #expect(one["versions"]?.elements.count == 1)
        let values = one["versions"]?.elements.first?["values"]
        #expect(values?.elements.map { $0["targets"] } == [["preview"]])
        let none = try platform.run("history", "KEY", "-p", "web", "-t", "development")
        #expect(none.status == 4 && none.error.contains("zg-env history KEY -p web"))
    }

    @Test func `D8: status lists ten unpushed variables in order`() throws {
        let platform = try SandboxHome()
        try platform.set("FIRST", "one")
        try platform.pushed()
        let text = (10..<23).map { "KEY_\($0)=\($0)\n" }.shuffled().joined()
        let imported = try platform.runner(
            ["import", "-", "-p", "web", "-t", "production"], input: .text(text)
        ).run()
        #expect(imported.status == 0, "\(imported.error)")
        let status = try platform.run("status")
        let lines = status.output.split(separator: "\n")
            .filter { $0.hasPrefix("  web  KEY_") }
        let expected = (10..<20).map { "  web  KEY_\($0)  production" }
        #expect(lines.prefix(10).map(String.init) == expected, "\(status.output)")
        #expect(!lines.prefix(11).contains { $0.contains("KEY_20") })
        #expect(status.output.contains("  and 3 more"), "\(status.output)")
    }

    @Test func `D10 D11: list names only projects with a match, and projects`() throws {
        let platform = try SandboxHome()
        try platform.set("SHARED_KEY", "one")
        let other = try platform.runner(
            ["set", "OTHER", "-p", "local"], input: .text("x")
        ).run()
        #expect(other.status == 0, "\(other.error)")
        let list = try platform.run("list", "--all-projects", "SHARED*")
        let nothing = try platform.run("list", "--all-projects", "ABSENT*")
        #expect(nothing.output.isEmpty && nothing.error.contains("No variables match"))
        #expect(
            list.output.hasPrefix("web\n") && !list.output.contains("\nlocal"), "\(list.output)")
        let unknown = try platform.run("list", "-p", "nope-at-all")
        #expect(unknown.error.contains("zg-env projects"), "\(unknown.error)")
    }

    @Test func `L4: without a vault, ten lines say how to begin`() throws {
        let home = try CommandHome()
        let first = try home.runner([]).run()
        #expect(first.status == 0, "\(first.error)")
        #expect(first.output.split(separator: "\n").count <= 10, "\(first.output)")
        #expect(first.output.contains("zg-env init") && first.output.contains("--help"))
    }

    @Test func `T6: a variable that was never pulled is not called changed`() throws {
        let platform = try SandboxHome()
        let made = try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "KEY", "value": "theirs", "type": "encrypted", "target": ["production"]])
        #expect(made["created"] != nil)
        try platform.set("KEY", "mine", "-t", "production")
        let push = try platform.run("push", "-p", "web", "--yes")
        #expect(push.status == 5)
        #expect(push.error.contains("has no record of"), "\(push.error)")
        #expect(!push.error.contains("since the last sync"), "\(push.error)")
    }

    @Test func `T13: a rotation without a new value says how to give one`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.pushed()
        let rotate = try platform.runner(
            ["rotate", "KEY", "-p", "web", "--yes"], input: .text("")
        ).run()
        #expect(rotate.status == 2)
        #expect(
            rotate.error.contains("No new value") && rotate.error.contains("--generate"),
            "\(rotate.error)")
    }

    @Test func `T12: a value that Vercel hides is not called pulled`() throws {
        let platform = try SandboxHome()
        _ = try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            [
                "key": "HIDDEN", "value": "theirs", "type": "sensitive", "target": ["production"],
            ])
        done(try platform.run("pull", "HIDDEN", "-p", "web", "--yes"))
        let hidden = try platform.runner(
            ["rotate", "HIDDEN", "-p", "web", "--yes"], input: .text("new")
        ).run()
        #expect(hidden.status != 0)
        #expect(!hidden.error.contains("pulled the old value"), "\(hidden.error)")
    }

    @Test func `T13: an empty value that was given is called empty`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.pushed()
        let rotate = try platform.run(
            "rotate", "KEY", "-p", "web", "--yes", "--from-command", "printf ''")
        #expect(rotate.status == 2 && rotate.error.contains("KEY is empty"), "\(rotate.error)")
        #expect(!rotate.error.contains("--allow-empty"), "\(rotate.error)")
    }

    @Test func `T18: a missing directory of a group is named`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "one")
        let share = try platform.run(
            "share", "web", "--group", "x", "--as", "me", "--at", "/nonexistent/place", "--yes")
        #expect(share.status != 0)
        #expect(
            share.error.contains("/nonexistent/place: no such directory"), "\(share.error)")
    }

    @Test func `T19: a wrong passphrase says where it came from`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        let path = platform.home.directory.path("wrong")
        try Data("wrong\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: path)
        let reveal = try platform.run(
            "reveal", "KEY", "-p", "web", "--passphrase-file", path)
        #expect(reveal.status == 3)
        #expect(reveal.error.contains(path), "\(reveal.error)")
    }
}
