import TestSupport
import Testing

/// `reveal --remote`: the value on Vercel, whatever the vault has.
@Suite("Revealing values on Vercel")
struct RemoteRevealTests {
    private func prepared() throws -> SandboxHome {
        let platform = try SandboxHome()
        done(try platform.run("import", "-", "-p", "web", input: .text("KEY=ours\nOTHER=x\n")))
        try platform.set("HIDDEN", "secret", "--type", "sensitive")
        try platform.pushed()
        done(try platform.run("import", "-", "-p", "web", input: .text("KEY=changed here\n")))
        return platform
    }

    @Test func `it prints Vercel's value, byte for byte, and the vault's stays`() throws {
        let platform = try prepared()
        let remote = done(try platform.run("reveal", "KEY", "-p", "web", "--remote"))
        #expect(remote.standardOutput == Array("ours".utf8))
        let local = done(try platform.run("reveal", "KEY", "-p", "web"))
        #expect(local.standardOutput == Array("changed here".utf8))
        let both = try JSONDocument(
            done(try platform.run("reveal", "KEY", "OTHER", "-p", "web", "--remote", "--json"))
                .standardOutput)
        let values = try #require(both["variables"]).elements
        #expect(values.map { $0["value"]?.text } == ["ours", "x"])
        #expect(values.allSatisfy { $0["version"] == JSONDocument.null })
        // Also one that only Vercel has.
        let seed = done(
            try platform.run("reveal", "SEED_ONLY", "-p", "web", "-t", "production", "--remote"))
        #expect(!seed.standardOutput.isEmpty)
        let log = done(try platform.run("log", "--json"))
        #expect(log.output.contains("Vercel: "))
    }

    @Test func `a hidden or missing value is exit 4, and nothing is printed`() throws {
        let platform = try prepared()
        for (key, words) in [("HIDDEN", "it is sensitive"), ("MISSING", "has no variable MISSING")]
        {
            failed(try platform.run("reveal", key, "-p", "web", "--remote"), 4, words)
        }
        let both = try platform.run("reveal", "KEY", "HIDDEN", "-p", "web", "--remote")
        failed(both, 4, "HIDDEN")
        #expect(both.standardOutput.isEmpty)
        failed(
            try platform.run("reveal", "KEY", "-p", "web", "--remote", "--version", "1"), 2,
            "--version")
        failed(try platform.run("reveal", "KEY", "-p", "web", "--remote", "--offline"), 7)
    }

    @Test func `several values need a target, and a wrong passphrase sends no request`() throws {
        let platform = try prepared()
        try platform.set("KEY", "for production", "-t", "production")
        try platform.pushed()
        failed(
            try platform.run("reveal", "KEY", "-p", "web", "--remote"), 2, "has several values")
        let one = done(
            try platform.run("reveal", "KEY", "-p", "web", "--remote", "-t", "production"))
        #expect(one.standardOutput == Array("for production".utf8))
        try platform.home.directory.write("wrong\n", to: "wrong")
        let requests = try platform.requests {
            failed(
                try platform.run(
                    "reveal", "KEY", "-p", "web", "--remote", "--passphrase-file",
                    platform.home.directory.path("wrong")), 3)
        }
        #expect(requests.isEmpty)
    }
}
