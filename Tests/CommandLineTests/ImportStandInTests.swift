import Foundation
import TestSupport
import Testing

/// What `import` leaves out of a file: stand-ins, and what Vercel sets itself.
@Suite("Importing files with stand-ins")
struct ImportStandInTests {
    private let home: CommandHome
    private static let header = "# Created by Vercel CLI\n"

    init() throws {
        home = try CommandHome.initialised()
    }

    private func imported(_ text: String, _ options: [String] = []) throws -> JSONDocument {
        try json(
            home.run(["import", "-", "-p", "web", "--json"] + options, input: .text(text)))
    }

    @Test(
        "VAL-F2: no dialect stores a placeholder, over a value or as a new one",
        arguments: [
            "dotenv", "next", "portable", "vercel-pull", "node", "docker", "systemd", "compose",
            "shell",
        ])
    func placeholders(dialect: String) throws {
        let options = ["--dialect", dialect]
        try home.store(["A": "sk_live_1", "B": "sk_live_2"])
        for placeholder in [
            "[SENSITIVE]", "SENSITIVE_ENV_VALUE_PLACEHOLDER", "[REDACTED]", "•••••",
        ] {
            // A shell and the strict dialect want quotes, docker keeps them.
            let value = dialect == "docker" ? placeholder : "\"\(placeholder)\""
            let text = "A=\(value)\nNEW=\(value)\nKEPT=1\n"
            let result = try imported(text, options)
            #expect(result["leftOut"]?["placeholder"] == ["A", "NEW"], "\(dialect) \(placeholder)")
            #expect(
                result["warnings"]?.elements.contains { $0["code"] == "skipped-placeholder" }
                    == true)
            #expect(try home.revealed("A") == Array("sk_live_1".utf8))
            failed(try home.run(["reveal", "NEW", "-p", "web"]), 4, "NEW")
            let before = try home.vaultBytes()
            let strict = try home.run(
                ["import", "-", "-p", "web", "--strict"] + options, input: .text(text))
            failed(strict, 2, "A, NEW", "--strict")
            #expect(try home.vaultBytes() == before)
        }
    }

    @Test("VAL-F2: an empty value of Vercel's CLI is not one")
    func emptyPulledValue() throws {
        try home.store(["STRIPE_KEY": "sk_live_0123456789abcdef"])
        for text in [
            Self.header + "STRIPE_KEY=\"\"\nNEW=\"\"\nA=\"1\"\n",
            "# vercel-env: target=production pulledAt=2026-11-01\nSTRIPE_KEY=\"\"\nNEW=\"\"\nA=\"1\"\n",
            "\u{FEFF}" + Self.header + "STRIPE_KEY=\"\"\nNEW=\"\"\nA=\"1\"\n",
        ] {
            let result = try imported(text, ["--allow-empty"])
            #expect(result["leftOut"]?["unreadable"] == ["STRIPE_KEY", "NEW"])
            #expect(result["updated"]?.texts.contains("STRIPE_KEY") != true)
        }
        let shown = done(
            try home.run(
                ["import", "-", "-p", "web"],
                input: .text(Self.header + "STRIPE_KEY=\"\"\nA=\"1\"\n")))
        #expect(shown.error.contains("Skipped 1 variable"), "\(shown.error)")
        #expect(shown.error.contains("STRIPE_KEY"))
        #expect(try home.revealed("STRIPE_KEY") == Array("sk_live_0123456789abcdef".utf8))
        let only = try home.run(
            ["import", "-", "-p", "web"], input: .text(Self.header + "STRIPE_KEY=\"\"\n"))
        failed(only, 2, "Nothing to import")
    }

    @Test("VAL-F2: elsewhere an empty value replaces another one only with --allow-empty")
    func emptyValue() throws {
        try home.store(["A": "value", "B": "value"])
        let before = try home.vaultBytes()
        let text = ProgramRunner.Input.text("A=\nB=new\nC=\n")
        for options in [[], ["--yes"], ["--strict"], ["--dry-run"], ["-t", "production"]] {
            let result = try home.run(["import", "-", "-p", "web"] + options, input: text)
            #expect(result.end == .exited(2), "\(options)")
            #expect(result.error.contains("A") && result.error.contains("--allow-empty"))
            #expect(try home.vaultBytes() == before, "\(options)")
        }
        // A new variable may be empty, and one that is skipped does not matter.
        done(
            try home.run(
                ["import", "-", "-p", "web", "--on-conflict", "skip"], input: .text("A=\nNEW=\n")))
        #expect(try home.revealed("A") == Array("value".utf8))
        let allowed = try imported("A=\nB=new\n", ["--allow-empty"])
        #expect(allowed["updated"] == ["A", "B"])
        #expect(try home.revealed("A") == [])
        // An empty value replaces an empty value.
        #expect(try imported("A=\n")["unchanged"] == ["A"])
        #expect(try imported("A=\n", ["--type", "plain"])["updated"] == ["A"])
    }

    @Test("VAL-F2: a terminal asks before empty values replace others", arguments: [true, false])
    func emptyValueAtTerminal(agrees: Bool) throws {
        try home.store(["A": "value"])
        try home.directory.write("A=\n", to: "work/.env")
        var runner = home.terminalRunner(
            [
                "import", ".env", "-p", "web", "-t", "production", "--passphrase-file",
                home.passphrasePath,
            ],
            streams: true,
            script: [
                (.terminal("Import the empty values?"), .line(agrees ? "y" : "n")),
                (.terminal("Link this directory"), .line("n")),
            ])
        if !agrees { runner.script.removeLast() }
        let result = try runner.run()
        #expect(result.end == .exited(agrees ? 0 : 1), "\(result.screen)")
        #expect(
            try home.revealed("A", "-t", "production") == (agrees ? [] : Array("value".utf8)))
    }

    @Test("VAL-F3: Vercel's own variables stay in the files of its CLI")
    func systemVariables() throws {
        let names = [
            "VERCEL", "VERCEL_ENV", "VERCEL_URL", "VERCEL_GIT_COMMIT_SHA",
            "VERCEL_AUTOMATION_BYPASS_SECRET", "VERCEL_HASH_SALT", "CI", "NX_DAEMON", "TURBO_CACHE",
            "TURBO_DOWNLOAD_LOCAL_ENABLED", "TURBO_REMOTE_ONLY", "TURBO_RUN_SUMMARY",
        ]
        let lines = names.map { "\($0)=\"x\"\n" }.joined()
        let rest = "MY_KEY=\"v\"\nNODE_ENV=\"development\"\nVERCEL_OIDC_TOKEN=\"eyJ\"\n"
        let pulled = try imported(Self.header + lines + rest)
        #expect(pulled["leftOut"]?["system"] == .array(names.map { .string($0) }))
        #expect(pulled["leftOut"]?["token"] == ["VERCEL_OIDC_TOKEN"])
        #expect(pulled["created"] == ["MY_KEY", "NODE_ENV"])
        // In another file they are the project's, but the token never is.
        let other = try imported(lines + rest)
        #expect(other["leftOut"]?["system"] == [])
        #expect(other["leftOut"]?["token"] == ["VERCEL_OIDC_TOKEN"])
        #expect(other["created"] == .array(names.map { .string($0) }))
        failed(
            try home.run(
                ["import", "-", "-p", "web", "--strict"],
                input: .text("A=1\nVERCEL_OIDC_TOKEN=x\n")), 2, "VERCEL_OIDC_TOKEN")
    }

    @Test("VAL-F3: a stand-in of a later file does not replace the value of an earlier one")
    func severalFiles() throws {
        try home.directory.write("A=real\n", to: "work/one.env")
        try home.directory.write(
            Self.header + "A=\"\"\nB=\"[SENSITIVE]\"\nVERCEL_OIDC_TOKEN=\"x\"\nC=\"1\"\n",
            to: "work/two.env")
        let result = try home.run(
            ["import", "one.env", "two.env", "-p", "web", "-t", "production", "--remove"])
        #expect(done(result).error.contains("Deleted two.env"))
        #expect(try home.revealed("A", "-t", "production") == Array("real".utf8))
    }

    @Test("VAL-F2: quotes, blanks and insertions bring no stand-in in")
    func disguised() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "real", "B": "real", "C": "real"])
        func imported(_ text: String, _ options: String...) throws -> JSONDocument {
            try json(
                home.run(
                    ["import", "-", "-p", "web", "-t", "production", "--json"] + options,
                    input: .text(text)))
        }
        let quoted = try imported(
            "# Created by Vercel CLI\nA=\"[SENSITIVE]\"\nB=\"\"\nC='[REDACTED]'\nD=1\n",
            "--dialect",
            "docker")
        #expect(quoted["created"] == ["D"] && quoted["updated"] == [])
        let blank = try imported("A=\"[SENSITIVE] \"\nE=1\n")
        #expect(blank["created"] == ["E"] && blank["updated"] == [])
        for options in [["--expand"], ["--dialect", "next"]] {
            let inserted = try json(
                home.run(
                    ["import", "-", "-p", "web", "-t", "preview", "--json"] + options,
                    input: .text(
                        "PASS=\"[SENSITIVE]\"\nURL=\"postgres://u:${PASS}@h/db\"\nALSO=\"$URL?x=1\"\nOK=\"1\"\n"
                    )))
            #expect(inserted["leftOut"]?["derived"] == ["URL", "ALSO"], "\(inserted)")
            #expect(inserted["created"] == ["OK"] || inserted["unchanged"] == ["OK"])
        }
        for key in ["A", "B", "C"] {
            #expect(try home.revealed(key, "-t", "production") == Array("real".utf8))
        }
    }
}
