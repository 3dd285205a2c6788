internal import JSON
import TestSupport
import Testing

/// `group adopt` and `group join` with what the newcomer already has.
@Suite("Adopting projects of groups")
struct GroupAdoptionTests {
    /// Alice shares `web`; Bob, who has a `web` too, is a member and has synced.
    private func twoWebs() throws -> GroupHomes {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "SAME", "equal")
        try homes.set("alice", "OLD", "equal now")
        try homes.set("alice", "DIFFERENT", "hers")
        try homes.set("alice", "NARROW", "hers", "-t", "production")
        try homes.set("alice", "THEIRS", "hers")
        try homes.share("alice")
        try homes.set("bob", "SAME", "equal")
        try homes.set("bob", "OLD", "an earlier value")
        try homes.set("bob", "OLD", "equal now")
        try homes.set("bob", "DIFFERENT", "his")
        try homes.set("bob", "NARROW", "his")
        try homes.set("bob", "MINE", "his")
        let invite = try homes.object("alice", ["group", "invite", "bob", "--yes"])
        let code = try #require(invite["code"]?.text)
        done(
            try homes.run(
                "bob", "group", "join", homes.place, "--group", "acme", input: .text(code + "\n")))
        done(try homes.run("alice", "sync", "--admit"))
        done(try homes.run("bob", "sync"))
        return homes
    }

    @Test func `equal variables become one, others stay, and the command for them is named`() throws
    {
        let homes = try twoWebs()
        try failedAsJSON(homes.run("bob", "group", "adopt", "web@acme", "--json"), 2, "usage")
        let plan = done(try homes.run("bob", "group", "adopt", "web@acme", "--dry-run")).output
        for line in [
            "rename your own project web to web (before)", "SAME: keep one",
            "DIFFERENT: use the group's value", "MINE, NARROW: leave in web (before)",
        ] { #expect(plan.contains(line), "\(plan)") }
        let report = try homes.object("bob", ["group", "adopt", "web@acme", "--yes"])
        #expect(report["equal"]?.texts == ["OLD", "SAME"])
        #expect(report["differing"]?.texts == ["DIFFERENT"])
        #expect(report["missing"]?.texts == ["MINE", "NARROW"])
        #expect(report["kept"] == "web (before)")
        #expect(try homes.value("bob", "DIFFERENT") == "hers")
        #expect(try homes.value("bob", "SAME") == "equal")
        func names(_ options: String...) throws -> [String] {
            try homes.object("bob", ["list", "-p", "web (before)"] + options)["variables"]?
                .elements.compactMap { $0["key"]?.text } ?? []
        }
        #expect(try names() == ["DIFFERENT", "MINE", "NARROW"])
        // Earlier values are nowhere else, so they stay.
        #expect(try names("--deleted") == ["OLD"])
        #expect(
            done(
                try homes.run("bob", "reveal", "OLD", "-p", "web (before)", "--version", "1")
            ).output == "an earlier value")
        // Nothing was sent to the group, and the printed command works as it is.
        #expect(try homes.object("bob", ["status"])["groups"]?.elements.first?["waiting"] == 0)
        let commands = report["commands"]?.texts ?? []
        #expect(
            commands == ["zg-env copy DIFFERENT MINE NARROW -p 'web (before)' --to-project web"])
        let words = commands[0].replacing("zg-env ", with: "", maxReplacements: 1)
        let shell = try homes.home("bob").wrapped("/bin/sh") { ["-c", "\($0) \(words)"] }.run()
        #expect(shell.status == 0, "\(shell.error)")
        try homes.settle("bob", "alice")
        #expect(try homes.value("alice", "DIFFERENT") == "his")
        #expect(try homes.value("alice", "MINE") == "his")
    }

    @Test func `an own project that is the same goes, with its directories`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.set("bob", "A", "one")
        done(try homes.run("bob", "link", "--local", "web"))
        let invite = try homes.object("alice", ["group", "invite", "bob", "--auto", "--yes"])
        let code = try #require(invite["code"]?.text)
        done(try homes.run("bob", "group", "join", homes.place, input: .text(code + "\n")))
        done(try homes.run("alice", "sync"))
        done(try homes.run("bob", "sync"))
        let adopted = try homes.object("bob", ["group", "adopt", "web@group", "--yes"])
        #expect(adopted["commands"] == [])
        #expect(
            try homes.object("bob", ["projects"])["projects"]?.elements.map { $0["name"] } == [
                "web"
            ])
        // The linked directory now has the group's project.
        let list = try homes.object("bob", ["list"])["variables"]?.elements.first
        #expect(list?["group"] == .null)
        failed(try homes.run("bob", "group", "adopt", "web", "--yes"), 5, "already adopted")
        failed(try homes.run("bob", "group", "adopt", "web", "--bind"), 5, "a Vercel project for")
    }

    @Test func `join waits for an admin, and adopts as the options say`() throws {
        let homes = try GroupHomes()
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        let early = try homes.run(
            "bob", "group", "join", homes.place, "--adopt", "all", input: .text("x\n"))
        failed(early, 2, "--wait")
        // Refused before the invite is answered, rather than ignored afterwards.
        for options in [["--link"], ["--bind"], ["--adopt", "none", "--link"]] {
            failed(
                try homes.home("bob").runner(
                    ["group", "join", homes.place, "--wait"] + options, input: .text("x\n")
                ).run(), 2, "--adopt all")
        }
        let invite = try homes.object("alice", ["group", "invite", "bob", "--auto", "--yes"])
        let code = try #require(invite["code"]?.text)
        let join = try homes.home("bob").runner(
            [
                "group", "join", homes.place, "--group", "acme", "--wait", "--adopt", "all",
                "--link", "--json",
            ], input: .text(code + "\n"))
        // Each sync admits who has answered by then.
        let admit = try homes.home("alice").wrapped("/bin/sh") {
            ["-c", "until \($0) sync | grep -q 'admitted bob'; do :; done"]
        }
        let results = try Together.run([join, admit])
        let joined = try json(results[0])
        #expect(joined["adopted"] == ["web"])
        #expect(joined["sync"]?["standing"] == "active")
        #expect(try homes.value("bob", "A") == "one")
        #expect(done(try homes.run("bob", "list")).output.contains("A"))
    }

    @Test func `join says that it did not link a directory to one of two projects`() throws {
        let homes = try GroupHomes()
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        done(
            try homes.home("alice").runner(["set", "B", "-p", "api"], input: .text("two")).run())
        done(try homes.run("alice", "share", "api", "--group", "acme", "--yes"))
        let invite = try homes.object("alice", ["group", "invite", "bob", "--auto", "--yes"])
        let code = try #require(invite["code"]?.text)
        let join = try homes.home("bob").runner(
            [
                "group", "join", homes.place, "--group", "acme", "--wait", "--adopt", "all",
                "--link",
            ], input: .text(code + "\n"))
        let admit = try homes.home("alice").wrapped("/bin/sh") {
            ["-c", "until \($0) sync | grep -q 'admitted bob'; do :; done"]
        }
        let results = try Together.run([join, admit])
        #expect(results[0].status == 2)
        #expect(
            results[0].error.contains(
                "You are a member of the group now. This directory was not linked: 2 projects"),
            "\(results[0].error)")
        #expect(try homes.value("bob", "A") == "one")
    }

    @Test func `group show names the reasons, and log lists who changed what`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        try homes.set("bob", "A", "late")
        try homes.withoutNewestEntry { done(try homes.run("bob", "sync")) }
        done(try homes.run("alice", "sync"))
        let details =
            try homes.object("alice", ["group", "show"])["groups"]?.elements.first?["details"]?
            .elements ?? []
        #expect(details.map { $0["kind"] } == ["late"])
        #expect(details.first?["subject"]?.text?.hasSuffix(" by bob") == true)
        #expect(details.first?["reason"]?.text?.contains("right") == true)
        let text = done(try homes.run("alice", "group", "show")).output
        #expect(text.contains("late: ") && text.contains("only one admin"), "\(text)")
        let log = try homes.object("alice", ["log", "--group", "acme"])["changes"]?.elements ?? []
        #expect(log.map { $0["author"] } == ["alice", "bob"])
        let first = log.first?["operations"]?.texts ?? []
        #expect(first.prefix(2) == ["share web", "add A (production, preview, development)"])
        #expect(first.last?.wholeMatch(of: #/set A [0-9a-f]{8}/#) != nil, "\(first)")
        #expect(log.first?["state"] == .null && log.last?["state"]?.text?.hasPrefix("late") == true)
        let table = done(try homes.run("alice", "log", "--group", "--limit", "1")).output
        #expect(table.contains("bob") && !table.contains("share web"), "\(table)")
        #expect(!table.contains("late value"))
        // Without --group, the name is a variable's.
        #expect(done(try homes.run("alice", "log", "A")).output.contains("A v1"))
        failed(try homes.run("alice", "log", "--group", "none"), 4)
    }

    @Test func `the Vercel project of a group is linked only by those who accept it`() throws {
        let homes = try GroupHomes(git: false)
        let platform = try SandboxHome()
        let place = ["ZG_ENV_API_URL": platform.url]
        for name in ["alice", "bob", "carol"] {
            done(
                try homes.home(name).run(
                    ["login"], input: .text(platform.token + "\n"), environment: place))
        }
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        // Alice links it afterwards: Bob learns of it, and nothing is linked unasked.
        done(try homes.home("alice").run(["link", "web"], environment: place))
        done(try homes.run("alice", "sync"))
        let told = done(try homes.run("bob", "sync")).output
        #expect(told.contains("links web to the Vercel project web (prj_"), "\(told)")
        #expect(told.contains("zg-env group adopt web --bind"), "\(told)")
        func binding(_ name: String) throws -> JSONDocument? {
            try homes.object(name, ["status"])["platform"]?.elements.first?["project"]
        }
        #expect(try binding("bob") == nil)
        #expect(
            try homes.object("bob", ["group", "show"])["groups"]?.elements.first?["details"]?
                .elements.map { $0["kind"] } == ["proposed"])
        // Said once, and shown until it is accepted.
        #expect(!done(try homes.run("bob", "sync")).output.contains("--bind"))
        let bound = try homes.object("bob", ["group", "adopt", "web", "--bind", "--yes"])
        #expect(bound["bound"]?.text?.hasPrefix("prj_") == true)
        #expect(try binding("bob") == "web")
        #expect(
            try homes.object("bob", ["group", "show"])["groups"]?.elements.first?["details"] == [])
        // A newcomer who had linked it, and pushed an equal value, keeps both.
        try homes.set("carol", "A", "one")
        done(try homes.home("carol").run(["link", "web"], environment: place))
        done(try homes.home("carol").run(["push", "--yes"], environment: place))
        let invite = try homes.object("alice", ["group", "invite", "carol", "--auto", "--yes"])
        let code = try #require(invite["code"]?.text)
        done(
            try homes.run(
                "carol", "group", "join", homes.place, "--group", "acme",
                input: .text(code + "\n")))
        done(try homes.run("alice", "sync"))
        done(try homes.run("carol", "sync"))
        done(try homes.run("carol", "group", "adopt", "web@acme", "--yes"))
        #expect(try binding("carol") == "web")
        let variables = try homes.object("carol", ["list", "-p", "web"])["variables"]?.elements
        #expect(variables?.map { $0["sync"] } == ["synced"])
        #expect(
            try homes.object("carol", ["projects"])["projects"]?.elements.map { $0["name"] } == [
                "web"
            ])
        let push = try json(
            homes.home("carol").run(["push", "-p", "web", "--yes", "--json"], environment: place))
        #expect(push["changes"]?.elements.isEmpty != false, "\(push)")
        // Accepted with the name, and without JSON, whose computation must not be what links it.
        done(
            try homes.home("dave").run(
                ["login"], input: .text(platform.token + "\n"), environment: place))
        let other = try homes.object("alice", ["group", "invite", "dave", "--auto", "--yes"])
        done(
            try homes.run(
                "dave", "group", "join", homes.place, "--group", "acme",
                input: .text(try #require(other["code"]?.text) + "\n")))
        done(try homes.run("alice", "sync"))
        done(try homes.run("dave", "sync"))
        done(try homes.run("dave", "group", "adopt", "web@acme", "--bind", "--yes"))
        #expect(try binding("dave") == "web")
    }
}
