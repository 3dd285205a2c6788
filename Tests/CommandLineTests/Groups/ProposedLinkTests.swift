internal import JSON
import Sandbox
import TestSupport
import Testing

/// `group adopt --bind` of a Vercel project that a colleague proposes.
@Suite("VAL-A6: the Vercel project that a colleague proposes")
struct ProposedLinkTests {
    private let homes: GroupHomes
    private let platform: SandboxHome

    /// Bob linked `web`, which Alice shares, to `web` of Vercel.
    init() throws {
        homes = try GroupHomes(git: false)
        platform = try SandboxHome(hasVault: false, isLoggedIn: false)
        homes.environment["ZG_ENV_API_URL"] = platform.url
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        for name in ["alice", "bob"] {
            done(try homes.run(name, "login", input: .text(platform.token + "\n")))
        }
        done(try homes.run("bob", "link", "web"))
        try homes.settle("bob", "alice")
    }

    private func bound() throws -> String? {
        try homes.object("alice", ["status"])["platform"]?.elements.first?["project"]?.text
    }

    @Test func `it is linked after a question that shows what Vercel says of it`() throws {
        let unasked = try homes.run("alice", "group", "adopt", "web", "--bind")
        #expect(unasked.status == 2 && unasked.error.contains("--yes"), "\(unasked.error)")
        #expect(try bound() == nil)
        var asked = try homes.home("alice").terminalRunner(
            ["group", "adopt", "web", "--bind"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Link web to it?"), .line("n")),
            ])
        asked.environment.merge(homes.environment) { $1 }
        let canceled = try asked.run()
        #expect(canceled.status == 1, "\(canceled.screen)")
        for words in ["Vercel project: web (prj_", "personal account, framework nextjs"] {
            #expect((canceled.screen + canceled.error).contains(words), "\(canceled.screen)")
        }
        #expect(try bound() == nil)
        let plan = try homes.object("alice", ["group", "adopt", "web", "--bind", "--dry-run"])
        #expect(plan["bound"] == .null)
        #expect(plan["wouldLink"]?["name"] == "web")
        #expect(plan["wouldLink"]?["team"] == .null)
        let shown = done(try homes.run("alice", "group", "adopt", "web", "--bind", "--dry-run"))
        #expect(
            shown.output.contains("Would link web to the Vercel project web (prj_")
                && shown.output.contains("personal account, framework nextjs"), "\(shown.output)")
        #expect(try bound() == nil)
        done(try homes.run("alice", "group", "adopt", "web", "--bind", "--yes"))
        #expect(try bound() == "web")
    }

    /// Admits Carol, who has adopted nothing.
    private func admitCarol() throws {
        let invite = try homes.object("alice", ["group", "invite", "carol", "--auto", "--yes"])
        let code = try #require(invite["code"]?.text)
        done(
            try homes.run(
                "carol", "group", "join", homes.place, "--group", "acme",
                input: .text(code + "\n")))
        done(try homes.run("carol", "login", input: .text(platform.token + "\n")))
        done(try homes.run("alice", "sync"))
        done(try homes.run("carol", "sync"))
    }

    @Test func `a newcomer's --dry-run shows what Vercel says of it`() throws {
        try admitCarol()
        let plan = ["group", "adopt", "web@acme", "--bind", "--dry-run"]
        let shown = done(try homes.run("carol", plan)).output
        #expect(
            shown.contains("Would rename web@acme to web")
                && shown.contains("Would link web to the Vercel project web (prj_")
                && shown.contains("personal account, framework nextjs"), "\(shown)")
        let object = try homes.object("carol", plan)
        #expect(object["wouldLink"]?["name"] == "web")
    }

    @Test func `it is refused if Vercel has another name for it`() throws {
        try platform.teammate.send("PATCH", "/v9/projects/web", ["name": "prod-billing"])
        let before = try homes.home("alice").vaultBytes()
        failed(
            try homes.run("alice", "group", "adopt", "web", "--bind", "--yes"), 5,
            "on Vercel its name is prod-billing", "zg-env link prod-billing --as web")
        #expect(try homes.home("alice").vaultBytes() == before)
        // A newcomer, too, before anything is adopted.
        try admitCarol()
        failed(
            try homes.run("carol", "group", "adopt", "web@acme", "--bind", "--yes"), 5,
            "prod-billing")
        #expect(
            try homes.object("carol", ["projects"])["projects"]?.elements.map { $0["name"] } == [
                "web@acme"
            ])
        // The hint leads out.
        done(try homes.run("alice", "link", "prod-billing", "--as", "web"))
        #expect(try bound() == "web")
    }
}
