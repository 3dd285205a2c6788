internal import JSON
import Sandbox
import TestSupport
import Testing

/// `import --push`.
@Suite("import --push")
struct ImportPushTests {
    @Test func `it sends the keys of the file and no others`() throws {
        let platform = try SandboxHome()
        try platform.set("OTHER", "o")
        let result = try json(
            platform.run(
                "import", "-", "-p", "web", "--push", "--yes", "--json",
                input: .text("A=1\nB=\"two\\nlines\"\n")))
        #expect(result["created"] == ["A", "B"])
        #expect(result["push"]?.keys("created") == ["A", "B"])
        #expect(platform.records("A") == ["production,preview,development=1"])
        #expect(platform.records("B") == ["production,preview,development=two\nlines"])
        #expect(platform.records("OTHER") == [])
        // A target of its own takes it from the other record there too.
        let narrowed = try json(
            platform.run(
                "import", "-", "-p", "web", "-t", "production", "--push", "--yes", "--json",
                input: .text("A=live\n")))
        #expect(narrowed["push"]?.keys("created") == ["A"])
        #expect(platform.records("A") == ["preview,development=1", "production=live"])
        try platform.pushed("A", "B").expectNothing()
    }

    @Test func `it needs the passphrase, as only an open vault knows where values go`()
        throws
    {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let platform = try SandboxHome(keyring: keyring)
        let command = ["import", "-", "-p", "web", "--push", "--yes", "--json"]
        let before = try platform.home.vaultBytes()
        try failedAsJSON(
            platform.runner(command, input: .text("A=1\nB=2\n"), unlocked: false).run(), 3, "locked"
        )
        #expect(try platform.home.vaultBytes() == before)
        let result = try json(platform.runner(command, input: .text("A=1\nB=2\n")).run())
        #expect(result["push"]?.keys("created") == ["A", "B"])
        #expect(platform.records("B") == ["production,preview,development=2"])
    }

    @Test func `skipped variables are not sent, and a conflict leaves the vault changed`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "old")
        let skipped = try json(
            platform.run(
                "import", "-", "-p", "web", "--push", "--yes", "--on-conflict", "skip", "--json",
                input: .text("A=new\nB=2\n")))
        #expect(skipped["push"]?.keys("created") == ["B"])
        try platform.change("B", ["value": "theirs"])
        let (report, _) = try failedReport(
            platform.run(
                "import", "-", "-p", "web", "--push", "--yes", "--json", input: .text("B=3\n")), 5,
            "conflict")
        #expect(report["updated"] == ["B"] && report["push"]?.keys("conflicts") == ["B"])
        #expect(try platform.home.revealed("B") == Array("3".utf8))
        let writes = try platform.writes {
            done(
                try platform.run(
                    "import", "-", "-p", "web", "--push", "--dry-run", input: .text("A=1\n")))
        }
        #expect(writes == [])
    }
}
