internal import JSON
import Sandbox
import TestSupport
import Testing

/// What changes of colleagues may do on this machine, and what Vercel has because of them.
@Suite("Changes of colleagues")
struct ColleagueChangeTests {
    private let homes: GroupHomes
    private let server: SandboxServer
    private let url: String
    private let token: String
    private var teammate: SandboxCaller { SandboxCaller(url: url, token: token) }

    init() throws {
        homes = try GroupHomes(git: false)
        var configuration = SandboxConfiguration()
        configuration.seed = try Seed(json: Array(SandboxHome.seed.utf8))
        server = try SandboxServer(configuration: configuration)
        (url, token) = try server.start()
    }

    private func run(
        _ name: String, _ arguments: String..., input: ProgramRunner.Input = .null
    ) throws -> ProgramResult {
        try homes.home(name).runner(
            arguments, input: input, environment: ["ZG_ENV_API_URL": url]
        ).run()
    }

    private func push(_ name: String, _ options: String...) throws -> JSONDocument {
        try json(
            homes.home(name).runner(
                ["push", "-p", "web", "--yes", "--json"] + options,
                environment: ["ZG_ENV_API_URL": url]
            ).run())
    }

    private func sync(_ name: String, _ key: String) throws -> String? {
        let list = try json(run(name, "list", key, "-p", "web", "--refresh", "--json"))
        return list["variables"]?.elements.first?["sync"]?.text
    }

    /// Alice and Bob share `web`, and are logged in to Vercel.
    private func pair() throws {
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        for name in ["alice", "bob"] {
            done(try run(name, "login", input: .text(token + "\n")))
        }
    }

    @Test func `a value that affects programs waits until it is accepted`() throws {
        defer { server.stop() }
        try homes.set("alice", "A", "one")
        try homes.set("alice", "NODE_OPTIONS", "--require ./a")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        func runs(_ name: String) throws -> ProgramResult {
            try homes.run(
                name, "run", "-p", "web", "--", "/bin/sh", "-c", "echo $NODE_OPTIONS")
        }
        func isHeld() throws {
            let result = try runs("bob")
            #expect(result.status == 125 && result.output.isEmpty, "\(result.error)")
            #expect(result.error.contains("zg-env group accept NODE_OPTIONS -p web"))
            #expect(!result.error.contains("--require"))
        }
        #expect(try done(runs("alice")).output == "--require ./a\n")
        try isHeld()
        try failedAsJSON(homes.run("bob", "export", "-p", "web", "--json"), 5, "conflict")
        failed(
            try homes.run("bob", "copy", "NODE_OPTIONS", "-p", "web", "--to-project", "mine"), 5,
            "group accept")
        // What does not depend on it goes on.
        done(try homes.run("bob", "run", "-p", "web", "--only", "A", "--", "/bin/true"))
        #expect(try homes.value("bob", "NODE_OPTIONS") == "--require ./a")
        failed(
            try homes.run("bob", "group", "accept", "NODE_OPTIONS", "-p", "web", "--yes"), 2,
            "--unseen")
        let plan = try homes.object("bob", ["group", "accept", "-p", "web", "--dry-run"])
        #expect(plan["changes"]?.elements.first?["author"] == "alice")
        #expect(plan["changes"]?.elements.first?["effects"] == ["program"])
        try isHeld()
        failed(
            try homes.run("bob", "group", "accept", "A", "-p", "web", "--unseen"), 5, "No change")
        failed(try homes.run("bob", "group", "leave", "--yes"), 5, "not been accepted")
        done(try homes.run("bob", "group", "accept", "NODE_OPTIONS", "-p", "web", "--unseen"))
        #expect(try done(runs("bob")).output == "--require ./a\n")
        // Again when its value changes, but not for an own one.
        try homes.set("alice", "NODE_OPTIONS", "--require ./b")
        done(try homes.run("alice", "sync"))
        #expect(try done(homes.run("bob", "sync")).output.contains("group accept -p web"))
        try isHeld()
        try homes.set("bob", "NODE_OPTIONS", "--inspect")
        #expect(try done(runs("bob")).output == "--inspect\n")
    }

    @Test func `wider scopes and weaker types of colleagues wait for what they affect`() throws {
        defer { server.stop() }
        try homes.set("alice", "S", "one", "-t", "production", "--type", "sensitive")
        try homes.set("alice", "T", "two")
        try pair()
        _ = try push("alice")
        try homes.settle("alice", "bob")
        try homes.set("alice", "S", "two", "-t", "production,development", "--type", "encrypted")
        try homes.settle("alice", "bob")
        try homes.set("bob", "T", "three")
        // What is not affected goes on.
        done(try run("bob", "run", "-p", "web", "-t", "production", "--", "/bin/true"))
        let started = try run("bob", "run", "-p", "web", "--", "/bin/true")
        #expect(started.status == 125, "\(started.error)")
        let plan = try run("bob", "push", "-p", "web", "--dry-run", "--force")
        #expect(plan.error.contains("changed the scope of S"), "\(plan.error)")
        let before = server.requests.count { $0.method != "GET" }
        let refused = try failedAsJSON(
            run("bob", "push", "-p", "web", "--yes", "--force", "--json"), 5, "conflict")
        #expect(refused.contains("from sensitive to encrypted"), "\(refused)")
        #expect(refused.contains("group accept S -p web"), "\(refused)")
        #expect(server.requests.count { $0.method != "GET" } == before)
        #expect(try push("bob", "T").keys("updated") == ["T"])
        done(try run("bob", "group", "accept", "S", "-p", "web", "--unseen"))
        done(try run("bob", "run", "-p", "web", "--", "/bin/true"))
    }

    @Test func `two variables of one name are given out nowhere, and held names are not copied`()
        throws
    {
        defer { server.stop() }
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        for name in ["alice", "bob"] { try homes.set(name, "NEW", "from \(name)") }
        try homes.settle("bob", "alice")
        for name in ["alice", "bob"] {
            let result = try homes.run(
                name, "run", "-p", "web", "--only", "NEW", "--", "/usr/bin/printenv", "NEW")
            #expect(result.status == 125 && result.output.isEmpty, "\(result.error)")
            #expect(result.error.contains("zg-env resolve NEW"), "\(result.error)")
        }
        done(try homes.run("bob", "rename", "A", "NEXT_PUBLIC_A", "-p", "web"))
        try homes.settle("bob", "alice")
        failed(
            try homes.run(
                "alice", "copy", "NEXT_PUBLIC_A", "-p", "web", "--to-project", "mine"), 5,
            "group accept")
    }

    @Test(arguments: ["sensitive", "encrypted"])
    func `a colleague's push is no conflict once both have synced`(type: String) throws {
        defer { server.stop() }
        try homes.set("alice", "S", "one", "-t", "production", "--type", type)
        try pair()
        #expect(try push("alice").keys("created") == ["S"])
        try homes.settle("alice", "bob")
        #expect(try sync("bob", "S") == "synced")
        let nothing = try push("bob")
        nothing.expectNothing()
        #expect(nothing.keys("unchanged") == ["S"])
        // Bob pushes over it, then Alice finds what he sent.
        try homes.set("bob", "S", "two", "-t", "production")
        #expect(try push("bob").keys("updated") == ["S"])
        try homes.settle("bob", "alice")
        try push("alice").expectNothing()
        #expect(try sync("alice", "S") == "synced")
        try homes.set("alice", "S", "three", "-t", "production")
        #expect(try push("alice").keys("updated") == ["S"])
        // A newer value here goes over what the colleague is known to have sent.
        done(try homes.run("alice", "sync"))
        done(try homes.run("bob", "sync"))
        try homes.set("bob", "S", "four", "-t", "production")
        #expect(try push("bob").keys("updated") == ["S"])
        #expect(server.storedVariables(project: "web")?.first { $0.key == "S" }?.value == "four")
    }

    @Test func `a claim that Vercel does not show is nothing`() throws {
        defer { server.stop() }
        try homes.set("alice", "S", "one", "-t", "production", "--type", "sensitive")
        try pair()
        _ = try push("alice")
        // Before the claim arrives, nobody can know whose record that is.
        _ = try failedReport(
            run("bob", "push", "-p", "web", "--yes", "--json"), 5, "conflict")
        try homes.settle("alice", "bob")
        let record = try #require(
            server.storedVariables(project: "web")?.first { $0.key == "S" })
        try teammate.send(
            "PATCH", "/v9/projects/web/env/\(record.id)", ["value": "by hand"])
        _ = try failedReport(
            run("bob", "push", "-p", "web", "--yes", "--json"), 5, "conflict")
        #expect(try sync("bob", "S") != "synced")
        #expect(server.storedVariables(project: "web")?.first { $0.key == "S" }?.value == "by hand")
    }
}
