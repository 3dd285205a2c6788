import Sandbox
import TestSupport
import Testing

/// From a `.env` file to a deployment that has its values, without a terminal.
@Suite("The main workflow with Vercel")
struct MainJobTests {
    private static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIIBVgIBADANBgkqhkiG9w0BAQEFAASCAUAwggE8AgEAAkEAq7BFUpkGp3+LQmlQ
        Yx2eqzDV+xeG8kx/sQFV18S5JhzGeIJNA72wSeukEPojtqUyX2J0CciPBh7eqclQ
        -----END PRIVATE KEY-----

        """

    /// The expected values, with the line of the file.
    private static let values: [(key: String, line: String, value: String)] = [
        ("PEM", "PEM=\"\(pem)\"", pem),
        ("JSON", #"JSON='{"a":"b","n":[1,2],"e":"\n"}'"#, #"{"a":"b","n":[1,2],"e":"\n"}"#),
        (
            "LINK", #"export LINK="https://u:p%40@db.example:5432/x?a=1&b=2#frag""#,
            "https://u:p%40@db.example:5432/x?a=1&b=2#frag"
        ),
        ("BCRYPT", "BCRYPT='$2b$10$abcdefghijklmnopqrstuv'", "$2b$10$abcdefghijklmnopqrstuv"),
        ("BASE64", "BASE64=cGFkZGVkIQ==", "cGFkZGVkIQ=="),
        ("QUOTES", #"QUOTES=`it's "quoted"`"#, #"it's "quoted""#),
        (
            "UNICODE", "UNICODE=Grüße 🔐 ñ 日本\u{1F469}\u{200D}\u{1F4BB}",
            "Grüße 🔐 ñ 日本\u{1F469}\u{200D}\u{1F4BB}"
        ),
        ("ESCAPED", #"ESCAPED="a\nb\tc\\d""#, "a\nb\\tc\\\\d"),
        ("EMPTY", "EMPTY=", ""),
        ("COMMENTED", "COMMENTED=value # not this", "value"),
        ("TWICE", "TWICE=first\nTWICE=second", "second"),
    ]

    private static var file: String {
        "\u{FEFF}# the shop\r\n" + values.map { $0.line + "\n" }.joined()
    }

    @Test func `the documented sequence works, and every byte arrives`() throws {
        let platform = try SandboxHome(hasVault: false, isLoggedIn: false)
        done(try platform.run("init", "--kdf", "8MiB,1"))
        try platform.home.directory.write(Self.file, to: "work/.env")
        done(try platform.run("import", ".env", "-p", "web"))
        done(try platform.run("login", input: .text(platform.token + "\n")))
        let push = done(try platform.run("push", "-p", "web", "--yes"))
        for (key, _, value) in Self.values {
            #expect(platform.records(key) == ["production,preview,development=\(value)"])
            #expect(push.output.contains("created   \(key) (production, preview, development)\n"))
        }
        let old = try platform.current()
        let result = try json(
            platform.run("redeploy", "-p", "web", "--wait", "--yes", "--json"))
        #expect(
            result.names.isSuperset(of: [
                "id", "url", "state", "target", "branch", "createdAt", "current", "previous",
            ]))
        #expect(result["state"] == "READY")
        #expect(result["target"] == "production")
        #expect(result["branch"] == "main")
        #expect(result["current"] == true)
        #expect(result["previous"]?.text == old)
        #expect(result["url"]?.text?.hasPrefix("https://web-") == true)
        #expect(isTime(result["createdAt"]))
        let id = try #require(result["id"]?.text)
        #expect(try platform.current() == id)
        let built = try #require(platform.server.builtVariables(deployment: id))
        for (key, _, value) in Self.values { #expect(built[key] == value, "\(key)") }
        #expect(built["SEED_ONLY"] == "seed")

        let list = try json(platform.run("list", "-p", "web", "--json"))
        let variables = list["variables"]?.elements ?? []
        #expect(variables.count == Self.values.count)
        #expect(variables.allSatisfy { $0["sync"] == "synced" && $0["live"] == true })
        #expect(isTime(list["asOf"]))
        let status = try json(platform.run("status", "--json"))
        #expect(status["notPushed"] == [])
        #expect(status["notLive"] == [])
        #expect(status["account"] == "dev")
    }

    @Test func `a project takes exactly 64 KiB, and a byte more is refused before sending`()
        throws
    {
        let platform = try SandboxHome()
        let room = 65_536 - "SEED_ONLYseed".utf8.count - "BIG".utf8.count
        let value = String((0..<room).map { _ in "a" })
        try platform.set("BIG", value)
        let report = try platform.pushed()
        #expect(report.keys("created") == ["BIG"])
        #expect(platform.records("BIG") == ["production,preview,development=\(value)"])

        let other = try SandboxHome()
        try other.set("BIG", String((0..<(65_536 - 3)).map { _ in "b" }), "-t", "preview")
        try other.set("MORE", "", "-t", "preview", "--allow-empty")
        let writes = try other.writes {
            let message = try failedAsJSON(other.push(), 2, "usage")
            #expect(message.contains("preview") && message.contains("65540"))
        }
        #expect(writes == [])
        try other.set("HUGE", String((0..<65_537).map { _ in "c" }), "-t", "preview")
        _ = try failedReport(other.push("HUGE"), 1, "failed")
        #expect(other.records("BIG") == [])
    }

    @Test func `without a terminal a plan needs --yes`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        let writes = try platform.writes {
            let plain = try platform.run("push", "-p", "web")
            #expect(plain.status == 2)
            #expect(plain.error.contains("create KEY for production, preview, development"))
            #expect(plain.error.contains("--yes"))
            try failedAsJSON(platform.run("push", "-p", "web", "--json"), 2, "usage")
            try failedAsJSON(platform.run("redeploy", "-p", "web", "--json"), 2, "usage")
            let dry = try json(platform.run("push", "-p", "web", "--json", "--dry-run"))
            #expect(dry["dryRun"] == true)
            #expect(dry.keys("created") == ["KEY"])
            let text = done(try platform.run("push", "-p", "web", "--dry-run"))
            #expect(
                text.output == """
                    Would create KEY for production, preview, development
                    1 new variable will be readable on Vercel (Config); to hide it, run: zg-env harden KEY -p web

                    """)
            let redeploy = try json(platform.run("redeploy", "-p", "web", "--json", "--dry-run"))
            #expect(redeploy["dryRun"] == true)
            #expect(redeploy["id"]?.text == (try platform.current()))
        }
        #expect(writes == [])
        try platform.pushed()
        // An empty plan asks nothing.
        let nothing = done(try platform.run("push", "-p", "web"))
        #expect(nothing.output == "Nothing to push.\n")
        try json(platform.run("push", "-p", "web", "--json")).expectNothing()
    }
}

extension JSONDocument {
    /// Expects the report of an empty push.
    func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) {
        for list in ["created", "updated", "deleted", "conflicts", "unverified", "failed"] {
            #expect(self[list] == [], "\(list)", sourceLocation: sourceLocation)
        }
    }
}
