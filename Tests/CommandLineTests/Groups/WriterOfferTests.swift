internal import JSON
import Sandbox
import TestSupport
import Testing

/// What a writer, who reads no value, can make others run or send.
@Suite("VAL-A4: what a writer adds")
struct WriterOfferTests {
    private let homes: GroupHomes
    private let server: SandboxServer
    private let url: String
    private let token: String

    /// Alice and Bob share `web` with Walter, a writer, and Carla, a reader.
    init() throws {
        homes = try GroupHomes(git: false)
        var configuration = SandboxConfiguration()
        configuration.seed = try Seed(json: Array(SandboxHome.seed.utf8))
        server = try SandboxServer(configuration: configuration)
        (url, token) = try server.start()
        homes.environment["ZG_ENV_API_URL"] = url
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.admit("walter", by: "alice", "--role", "writer")
        try homes.admit("carla", by: "alice", "--role", "reader")
        for name in ["alice", "walter"] {
            done(try homes.run(name, "login", input: .text(token + "\n")))
        }
        done(try homes.run("alice", "push", "-p", "web", "--yes"))
        try settle()
    }

    private func settle() throws { try homes.settle("walter", "alice", "bob", "carla") }

    private func environment(_ name: String, _ options: String...) throws -> ProgramResult {
        try homes.run(
            name,
            ["run", "-p", "web"] + options + [
                "--", "/bin/sh", "-c", "echo \"$A[$TAR_OPTIONS$OTHER]\"",
            ])
    }

    private func mark(_ name: String, _ key: String) throws -> String? {
        try homes.object(name, ["list", key, "-p", "web"])["variables"]?.elements.first?["group"]?
            .text
    }

    @Test func `it is given to no program before a member takes it`() throws {
        defer { server.stop() }
        // A name of the list, and one that no list has.
        try homes.set("walter", "TAR_OPTIONS", "--checkpoint=1")
        try homes.set("walter", "OTHER", "offered")
        done(try homes.run("walter", "sync"))
        let told = done(try homes.run("alice", "sync")).output
        #expect(told.contains("changes to 2 variables are waiting for your approval"), "\(told)")
        try settle()
        for name in ["alice", "bob", "carla"] {
            let result = done(try environment(name))
            #expect(result.output == "one[]\n")
            #expect(result.error.contains("Left out: OTHER, TAR_OPTIONS, which a writer added."))
            #expect(result.error.contains("zg-env group accept OTHER TAR_OPTIONS -p web"))
            let file = done(try homes.run(name, "export", "-p", "web", "--format", "json"))
            #expect(!file.output.contains("offered") && file.output.contains("one"))
            let named = try environment(name, "--only", "OTHER")
            #expect(named.status == 125 && named.output.isEmpty, "\(named.error)")
            #expect(named.error.contains("zg-env group accept OTHER -p web"), "\(named.error)")
            let others = done(
                try homes.run(
                    name, "export", "-p", "web", "--except", "OTHER", "--except", "TAR_OPTIONS"))
            #expect(others.output.contains("one") && !others.error.contains("Left out"))
            #expect(try mark(name, "OTHER") == "toAccept")
        }
        failed(
            try homes.run("alice", "copy", "OTHER", "-p", "web", "--to-project", "mine"), 5,
            "a writer, added OTHER")
        failed(
            try homes.run("alice", "push", "OTHER", "-p", "web", "--yes"), 5, "group accept OTHER")
        let pushed = done(try homes.run("alice", "push", "-p", "web", "--yes"))
        #expect(pushed.error.contains("Left out: OTHER, TAR_OPTIONS"), "\(pushed.error)")
        let stored = server.storedVariables(project: "web")?.map(\.key) ?? []
        #expect(
            !stored.contains("OTHER") && !stored.contains("TAR_OPTIONS") && stored.contains("A"))
        // Shown with a way out.
        let status = try homes.object("alice", ["status"])["toAccept"]?.elements ?? []
        #expect(status.map { $0["key"] } == ["OTHER", "TAR_OPTIONS"])
        #expect(status.first?["command"] == "zg-env group accept OTHER -p web")
        let plan = try homes.object("alice", ["group", "accept", "-p", "web", "--dry-run"])
        #expect(plan["changes"]?.elements.map { $0["author"] } == ["walter", "walter"])
        #expect(plan["changes"]?.elements.first?["effects"] == ["offer"])
    }

    @Test func `who takes it, takes it for the whole group`() throws {
        defer { server.stop() }
        try homes.set("walter", "TAR_OPTIONS", "--checkpoint=1")
        try homes.set("walter", "OTHER", "offered")
        try settle()
        // A reader takes it for this machine alone.
        done(try homes.run("carla", "group", "accept", "OTHER", "-p", "web", "--unseen"))
        #expect(try done(environment("carla")).output == "one[offered]\n")
        try settle()
        #expect(try done(environment("carla")).output == "one[offered]\n")
        #expect(try done(environment("bob")).output == "one[]\n")
        done(try homes.run("alice", "group", "accept", "OTHER", "-p", "web", "--unseen"))
        #expect(try done(environment("alice")).output == "one[offered]\n")
        try settle()
        #expect(try done(environment("bob")).output == "one[offered]\n")
        #expect(try mark("bob", "OTHER") == nil)
        #expect(try mark("bob", "TAR_OPTIONS") == "toAccept")
        // An own value takes it, too; the other one is a change that programs depend on.
        try homes.set("bob", "TAR_OPTIONS", "--verbose")
        #expect(try done(environment("bob")).output == "one[--verboseoffered]\n")
        try settle()
        let held = try environment("alice")
        #expect(
            held.status == 125 && held.error.contains("set TAR_OPTIONS, which"), "\(held.error)")
    }

    @Test func `what was removed does not come back by a writer's hand`() throws {
        defer { server.stop() }
        try homes.set("walter", "OTHER", "offered")
        try settle()
        done(try homes.run("alice", "rm", "OTHER", "-p", "web", "--yes"))
        try settle()
        #expect(try homes.object("alice", ["status"])["toAccept"]?.elements.isEmpty == true)
        try homes.set("walter", "OTHER", "again")
        try settle()
        for name in ["alice", "bob"] {
            #expect(try done(environment(name)).output == "one[]\n")
        }
    }

    @Test func `a variable without a value stops no one`() throws {
        defer { server.stop() }
        let teammate = SandboxCaller(url: url, token: token)
        try teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "BLOCK", "value": "hidden", "type": "sensitive", "target": ["production"]])
        done(try homes.run("walter", "pull", "BLOCK", "-p", "web", "--yes"))
        try settle()
        for name in ["alice", "bob", "carla"] {
            let result = done(try environment(name, "-t", "production"))
            #expect(result.output == "one[]\n")
            #expect(result.error.contains("zg-env rm BLOCK -p web"), "\(result.error)")
            done(try homes.run(name, "export", "-p", "web", "-t", "production"))
        }
        failed(
            try homes.run("alice", "group", "accept", "BLOCK", "-p", "web", "--unseen"), 5,
            "zg-env rm BLOCK -p web")
        done(try homes.run("alice", "rm", "BLOCK", "-p", "web", "--yes"))
        #expect(!done(try environment("alice", "-t", "production")).error.contains("Left out"))
    }

    @Test func `what a writer adds stops no program whose shell has its value`() throws {
        defer { server.stop() }
        done(
            try homes.home("walter").runner(
                ["set", "LANG", "-p", "web", "-t", "production"], input: .text("en_US.UTF-8")
            ).run())
        try settle()
        var runner = try homes.home("alice").runner([
            "run", "-p", "web", "-t", "development", "--", "/bin/sh", "-c", "echo $LANG",
        ])
        runner.environment["LANG"] = "en_US.UTF-8"
        let result = done(try runner.run())
        #expect(result.output == "en_US.UTF-8\n")
    }
}
