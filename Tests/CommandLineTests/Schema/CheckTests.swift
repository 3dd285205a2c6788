import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// `check`: what a schema declares, compared with the vault, with Vercel and with what is live.
@Suite("Checking a schema")
struct CheckTests {
    private static let schema = """
        # @defaultRequired=false @defaultSensitive=false
        # ---
        # Where the data is.
        # @required @sensitive @type=url @docs(https://example.com/database)
        DATABASE_URL=
        # @required @type=port
        PORT=3000
        # @required=forEnv(production)
        ONLY_LIVE=
        # @type=enum(debug, info)
        LOG_LEVEL=
        # @deprecated="Use LOG_LEVEL"
        OLD_LEVEL=
        """

    @Test func `each state of the vault is found, by name and target, and no value is shown`()
        throws
    {
        let home = try SchemaHome(Self.schema)
        try home.set("LOG_LEVEL", "verbose-canary", "-t", "production", "-t", "preview")
        try home.set("OLD_LEVEL", "old-canary", "-t", "production")
        try home.set("EXTRA", "extra-canary", "-t", "production")
        let result = try home.check("-t", "production")
        #expect(result.status == 1)
        #expect(
            try SchemaHome.states(result) == [
                "DATABASE_URL production vault missing", "EXTRA production vault undeclared",
                "LOG_LEVEL production vault invalid", "OLD_LEVEL production vault deprecated",
                "ONLY_LIVE production vault missing", "PORT production vault default",
            ])
        let report = try JSONDocument(result.standardOutput)
        let first = try #require(report["results"]?.elements.first)
        #expect(first["required"] == true)
        #expect(first["type"] == "url")
        #expect(first["description"] == "Where the data is.")
        #expect(first["docs"]?.texts == ["https://example.com/database"])
        #expect(report["counts"]?["missing"] == 2)
        #expect(report["schema"]?["source"] == "env-spec")
        #expect(!(result.output + result.error).contains("canary"))

        // ONLY_LIVE is not required elsewhere; problems come first, with description and link.
        let text = ended(try home.platform.run("check", "-t", "preview"), 1)
        let lines = text.output.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("DATABASE_URL  missing") == true, "\(lines)")
        #expect(text.output.contains("Where the data is.; https://example.com/database"))
        #expect(!text.output.contains("ONLY_LIVE"))
        #expect(text.error.contains("DATABASE_URL"))
    }

    @Test func `a schema that is met is fine, and silent but for one line`() throws {
        let home = try SchemaHome("A=\nB= # about B\n", name: ".env.example")
        try home.set("A", "1")
        let result = done(try home.platform.run("check"))
        #expect(result.output == "2 declared in .env.example, 0 problems, 0 warnings\n")
        // Strictly, an optional variable that is not there is a problem, and one that is not declared.
        let strict = try home.check("--strict")
        #expect(strict.status == 1)
        #expect(try SchemaHome.states(strict).contains("B production vault missing"))
    }

    @Test func `while the values are locked, names are checked and types are not`() throws {
        let home = try SchemaHome("# @type=port\nPORT=\n")
        try home.set("PORT", "no port")
        #expect(try home.check().status == 1)
        let locked = try home.check(unlocked: false)
        // Without a keyring nothing opens the index either.
        #expect(locked.status == 3)
    }

    @Test func `without a schema, a project or a link it says what to do`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "1")
        try failedAsJSON(platform.run("check", "--json"), 2, "usage")
        try failedAsJSON(platform.run("check", "-p", "web", "--json"), 2, "usage")
        try platform.home.directory.write("A=\n", to: "work/.env.schema")
        // Not linked: a cloned repository must not be able to say anything.
        try failedAsJSON(platform.run("check", "-p", "web", "--json"), 2, "usage")
        done(try platform.run("check", "-p", "web", "--schema", ".env.schema"))
        let missing = ended(
            try platform.run("check", "-p", "web", "--schema", "nowhere"), 2)
        #expect(missing.error.contains("nowhere"))
    }

    @Test func `a file that is no schema is refused with its line, and other commands go on`()
        throws
    {
        let home = try SchemaHome("# @required\nA=1\nJUST A LINE\n")
        try home.set("A", "1", "-t", "development")
        let refused = ended(try home.platform.run("check"), 2)
        #expect(refused.error.contains(".env.schema, line 3"))
        let child = done(try home.platform.run("run", "--", "printenv", "A"))
        #expect(child.output == "1\n")
        #expect(child.error.contains(".env.schema"))
        ended(try home.platform.run("run", "--check", "--", "true"), 125)
    }

    @Test func `an unknown name is a mistake, not a variable that is fine`() throws {
        let home = try SchemaHome("# @required\nDATABASE_URL=\n")
        let result = ended(try home.platform.run("check", "DATABASE_URI"), 4)
        #expect(result.error.contains("Did you mean DATABASE_URL?"))
    }

    @Test func `a variable that only production lacks is found before a push and gone after it`()
        throws
    {
        let home = try SchemaHome("# @defaultSensitive=false\n# ---\nAPI_URL=\nSECOND=\n")
        let platform = home.platform
        try home.set("API_URL", "https://a.example", "-t", "preview")
        try home.set("SECOND", "2")
        try platform.pushed()
        done(try platform.run("redeploy", "--yes", "--wait"))

        #expect(
            try home.states("--on", "live", "API_URL") == ["API_URL production live missing"])
        #expect(
            try home.states("--on", "vercel", "-t", "production,preview", "API_URL") == [
                "API_URL preview vercel ok", "API_URL production vercel missing",
            ])
        try home.set("API_URL", "https://a.example", "-t", "production")
        // In the vault it is there, on Vercel not yet.
        #expect(
            try home.states("--on", "vault,vercel", "-t", "production", "API_URL") == [
                "API_URL production vault ok", "API_URL production vercel missing",
            ])
        try platform.pushed()
        #expect(
            try home.states("--on", "vercel,live", "-t", "production", "API_URL") == [
                "API_URL production live missing", "API_URL production vercel ok",
            ])
        let redeploy = done(try platform.run("redeploy", "--yes", "--wait"))
        #expect(redeploy.error.contains("Declared in .env.schema and live: 2 of 2."))
        let live = try home.check("--on", "live")
        #expect(live.status == 0)
        #expect(
            try SchemaHome.states(live).filter { !$0.contains("undeclared") } == [
                "API_URL production live ok", "SECOND production live ok",
            ])
    }

    @Test func `the same for a custom environment and for the previews of a branch`() throws {
        let home = try SchemaHome("# @defaultSensitive=false\n# ---\nAPI_URL=\n")
        let platform = home.platform
        let preview = try platform.deployments()[1]
        done(try platform.run("redeploy", preview, "-t", "qa", "--yes", "--wait"))
        #expect(
            try home.states("--on", "live", "-t", "qa") == ["API_URL qa live missing"])
        #expect(
            try home.states("--on", "live", "-b", "feature") == [
                "API_URL preview live missing"
            ])
        try home.set("API_URL", "https://qa.example", "-t", "qa")
        try home.set("API_URL", "https://feature.example", "-b", "feature")
        try platform.pushed()
        #expect(try home.states("--on", "vercel", "-t", "qa") == ["API_URL qa vercel ok"])
        #expect(
            try home.states("--on", "vercel", "-t", "preview") == [
                "API_URL preview vercel missing"
            ])
        #expect(
            try home.states("--on", "vercel", "-b", "feature") == [
                "API_URL preview vercel ok"
            ])
        done(try platform.run("redeploy", "-t", "qa", "--yes", "--wait"))
        done(try platform.run("redeploy", preview, "--yes", "--wait"))
        #expect(try home.states("--on", "live", "-t", "qa") == ["API_URL qa live ok"])
        #expect(
            try home.states("--on", "live", "-b", "feature") == ["API_URL preview live ok"])
        try failedAsJSON(home.check("--on", "live", "-t", "nowhere"), 2, "usage")
        try failedAsJSON(home.check("--on", "live", "-b", "other"), 4, "not_found")
        try failedAsJSON(home.check("--on", "live", "-t", "development"), 2, "usage")
    }

    @Test func `a sensitive variable that was changed after the deployment is unknown, not fine`()
        throws
    {
        let home = try SchemaHome("# @sensitive\nTOKEN=\n")
        let platform = home.platform
        try home.set("TOKEN", "first", "-t", "production", "--type", "sensitive")
        #expect(try home.states("--on", "live") != ["TOKEN production live ok"])
        try platform.pushed()
        done(try platform.run("redeploy", "--yes", "--wait"))
        #expect(try home.states("--on", "live", "TOKEN") == ["TOKEN production live ok"])
    }

    @Test func `without the network, or logged out, it says so and is not fine`() throws {
        let home = try SchemaHome("A=\n")
        try home.set("A", "1")
        try failedAsJSON(home.check("--on", "vercel", "--offline"), 7, "unavailable")
        home.platform.server.stop()
        try failedAsJSON(home.check("--on", "live"), 7, "unavailable")
    }

    @Test func `names of environments are mapped by settings of the vault`() throws {
        let home = try SchemaHome(
            "# @currentEnv=$APP_ENV\n# ---\n# @optional\nAPP_ENV=\n# @required=forEnv(uat)\nKEY=\n")
        let platform = home.platform
        let before = try home.check("-t", "preview", "KEY")
        #expect(before.status == 0)
        let notes = try JSONDocument(before.standardOutput)["notes"]?.elements ?? []
        #expect(notes.contains { $0["code"] == "env-name-unmapped" && $0["key"] == "uat" })
        done(try platform.run("config", "set", "schema-env.uat", "preview"))
        #expect(try home.check("-t", "preview", "KEY").status == 1)
        done(try platform.run("config", "unset", "schema-env.uat"))
        #expect(try home.check("-t", "preview", "KEY").status == 0)
    }

    @Test func `print needs no vault, and shows what was read`() throws {
        let home = try CommandHome()
        try home.directory.write("# @type=port @required\nPORT=\n", to: "work/a")
        let result = try json(home.run(["check", "--print", "--json", "--schema", "a"]))
        let item = try #require(result["items"]?.elements.first)
        #expect(item["key"] == "PORT")
        #expect(item["type"] == "port")
        #expect(item["required"] == true)
        let plain = try json(
            home.run(["check", "--print", "--json", "--schema", "a", "--notation", "plain"]))
        #expect(plain["items"]?.elements.first?["required"] == false)
        try home.directory.write("[project\n", to: "work/secretspec.toml")
        let broken = try home.run(["check", "--print", "--json", "--schema", "secretspec.toml"])
        #expect(broken.status == 2)
        #expect(try JSONDocument(broken.standardOutput)["error"]?["code"] == "schema-syntax")
    }

    @Test func `nothing of a schema controls the terminal`() throws {
        let home = try SchemaHome(
            "# a \u{1B}]0;title\u{07}\u{202E} description @x\n# @docs(https://e.example/\u{1B}[31m)\nKEY=\n# @\u{1B}[2J=1\nOTHER=\n"
        )
        for words in [
            ["check"], ["check", "--verbose"], ["check", "--print"], ["run", "--", "true"],
        ] {
            let result = try home.platform.runner(words).run()
            let shown = result.output + result.error
            #expect(
                !shown.unicodeScalars.contains {
                    $0 == "\u{1B}" || $0 == "\u{07}" || $0 == "\u{202E}"
                },
                "\(words)")
        }
        let types = try home.platform.run("check", "--types", "ts")
        #expect(!types.output.contains("\u{1B}"))
    }

    @Test func `type declarations are written once and compared afterwards`() throws {
        let home = try SchemaHome("# @type=enum(a, b)\nMODE=\n# @optional\nOTHER=\n")
        let platform = home.platform
        done(try platform.run("check", "--types", "ts", "-o", "env.d.ts", "--json"))
        let text = try String(contentsOfFile: home.path("env.d.ts"), encoding: .utf8)
        #expect(text.contains("MODE: \"a\" | \"b\";"))
        #expect(text.contains("OTHER?: string | undefined;"))
        done(try platform.run("check", "--types", "ts", "-o", "env.d.ts", "--exit-code"))
        try home.write("MODE=\n# @required\nNEW=\n")
        ended(try platform.run("check", "--types", "ts", "-o", "env.d.ts", "--exit-code"), 1)
        #expect(
            try String(contentsOfFile: home.path("env.d.ts"), encoding: .utf8) == text)
        let schema = try json(platform.run("check", "--types", "json-schema"))
        #expect(schema["type"] == "object")
    }

    @Test func `reading opens the schema, its imports and the link, and starts nothing`() throws {
        let home = try SchemaHome(
            "# @import(./.env.shared)\n# @import(./.env.local)\n# @import(../../.env.outside)\n# ---\nA=exec(`touch made`)\n"
        )
        try home.write("B=\n", to: ".env.shared")
        try home.write("C=canary\n", to: ".env.local")
        let trace = home.path("trace")
        let result = try home.platform.home.wrapped("/usr/bin/strace") { program in
            ["-f", "-qq", "-e", "trace=execve,open,openat,openat2", "-o", trace, program] + [
                "check", "--print", "--json", "--schema", ".env.schema",
            ]
        }.run()
        #expect(result.status == 0, "\(result.error)")
        #expect(!result.output.contains("canary"))
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        #expect(lines.filter { $0.contains("execve(") }.count == 1)
        let work = home.path("")
        let opened = Set(
            lines.filter { !$0.contains("ENOENT") && $0.contains("open") }.compactMap { line in
                line.split(separator: "\"").dropFirst().first.map(String.init)
            }.filter { $0.hasPrefix(work) || $0.hasPrefix(".") || $0.contains("outside") })
        #expect(
            opened == [".env.schema", home.path(".env.shared")], "\(opened)")
        #expect(!FileManager.default.fileExists(atPath: home.path("made")))
    }
}
