internal import JSON
import Sandbox
import TestSupport
import Testing

/// `diff --remote`.
@Suite("Comparing the vault with Vercel")
struct RemoteDifferenceTests {
    /// A record for every state.
    private func prepared() throws -> SandboxHome {
        let platform = try SandboxHome()
        for key in ["SAME", "VALUE", "TARGETS", "NOTE", "RENAMED"] { try platform.set(key, "v1") }
        try platform.set("SECRET", "s", "--type", "sensitive")
        try platform.pushed()
        try platform.change("VALUE", ["value": "v2"])
        try platform.change("TARGETS", ["target": ["preview"]])
        try platform.change("NOTE", ["comment": "n"])
        try platform.change("RENAMED", ["key": "OTHER"])
        try platform.set("LOCAL", "l")
        return platform
    }

    private func difference(
        _ platform: SandboxHome, _ arguments: String..., unlocked: Bool = true
    ) throws -> JSONDocument {
        try json(
            platform.runner(
                ["diff", "--remote", "-p", "web", "--json"] + arguments, unlocked: unlocked
            ).run())
    }

    @Test func `every state is reported, by content, and nothing changes`() throws {
        let platform = try prepared()
        let before = try platform.home.vaultBytes()
        var report = JSONDocument.null
        let writes = try platform.writes { report = try difference(platform) }
        #expect(writes == [])
        #expect(try platform.home.vaultBytes() == before)
        #expect(report["added"] == ["SEED_ONLY"])
        #expect(report["removed"] == ["LOCAL"])
        #expect(report["changed"] == ["NOTE", "RENAMED", "TARGETS", "VALUE"])
        #expect(report["same"] == ["SAME"])
        #expect(report["unreadable"] == ["SECRET"])
        #expect(report["compared"] == true)
        let differing = Dictionary(
            (report["variables"]?.elements ?? []).map {
                ($0["key"]?.text ?? "", $0["differing"]?.texts ?? [])
            }, uniquingKeysWith: { $0 + $1 })
        #expect(differing["VALUE"] == ["value"] && differing["TARGETS"] == ["scope"])
        #expect(differing["NOTE"] == ["comment"] && differing["RENAMED"] == ["key"])
        let text = done(try platform.run("diff", "--remote", "-p", "web")).output
        #expect(!text.contains("v1") && !text.contains("v2"))
    }

    @Test func `with a target it compares what a program there would see`() throws {
        let platform = try prepared()
        let production = try difference(platform, "-t", "production")
        #expect(production["target"] == "production")
        #expect(production["added"] == ["OTHER", "SEED_ONLY"])
        #expect(production["removed"] == ["LOCAL", "RENAMED", "TARGETS"])
        #expect(production["changed"] == ["NOTE", "VALUE"])
        let preview = try difference(platform, "-t", "preview")
        #expect(preview["same"] == ["SAME", "TARGETS"])
        #expect(preview["unreadable"] == ["SECRET"])
        try failedAsJSON(
            platform.run("diff", "--remote", "-p", "web", "-t", "nowhere", "--json"), 2, "usage")
    }

    @Test func `names need no passphrase, values do`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let platform = try SandboxHome(keyring: keyring)
        try platform.set("KEY", "v")
        try platform.pushed()
        let names = try difference(platform, "--names", unlocked: false)
        #expect(names["present"] == ["KEY"] && names["added"] == ["SEED_ONLY"])
        #expect(names["compared"] == false)
        try failedAsJSON(
            platform.run("diff", "--remote", "-p", "web", "--json", unlocked: false), 3, "locked")
    }

    @Test func `--exit-code reports a difference`() throws {
        let platform = try SandboxHome()
        done(try platform.run("pull", "-p", "web"))
        done(try platform.run("diff", "--remote", "-p", "web", "--exit-code"))
        try platform.set("KEY", "v")
        let (report, message) = try failedReport(
            platform.run("diff", "--remote", "-p", "web", "--exit-code", "--json"), 1, "failed")
        #expect(
            report["removed"] == ["KEY"]
                && message.contains("1 variable differs or cannot be compared"))
        done(try platform.run("diff", "--remote", "-p", "web"))
        #expect(try platform.run("diff", "-p", "web").status == 2)
        #expect(try platform.run("diff", ".env", "--remote", "-p", "web").status == 2)
    }
}
