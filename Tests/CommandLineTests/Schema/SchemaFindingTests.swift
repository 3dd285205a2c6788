import Foundation
internal import JSON
import TestSupport
import Testing

/// What a hostile trial of schemas found.
@Suite("Findings about schemas")
struct SchemaFindingTests {
    @Test func `-o replaces nothing but what zg-env has generated`() throws {
        let home = try SchemaHome("PORT=\n")
        let types = ["check", "--types", "ts", "-o"]
        func run(_ path: String) throws -> ProgramResult {
            try home.platform.runner(types + [path]).run()
        }
        ended(try run(".env.schema"), 5)
        #expect(try String(contentsOfFile: home.path(".env.schema"), encoding: .utf8) == "PORT=\n")
        #expect(unsafe mkfifo(home.path("pipe"), 0o600) == 0)
        #expect(unsafe symlink("/dev/null", home.path("link")) == 0)
        for path in ["pipe", "link", "/dev/null"] {
            #expect(ended(try run(path), 2).error.contains("not a regular file"), "\(path)")
        }
        #expect(done(try run("-")).output.contains("ProcessEnv"))
        #expect(!FileManager.default.fileExists(atPath: home.path("-")))
        done(try run("env.d.ts"))
        done(try run("env.d.ts"))
        let facts = try FileManager.default.attributesOfItem(atPath: home.path("env.d.ts"))
        #expect(facts[.posixPermissions] as? Int == 0o644)
    }

    @Test func `run --check checks the environment that the program gets`() throws {
        let home = try SchemaHome("# @type=port\nPORT=\n# @required\nSITE=\n")
        try home.set("PORT", "3000", "-t", "production")
        try home.set("SITE", "value", "-t", "production")
        func run(_ environment: [String: String], _ options: String...) throws -> ProgramResult {
            try home.platform.runner(
                ["run", "--check", "-t", "production"] + options + ["--", "true"],
                environment: environment
            ).run()
        }
        ended(try run([:]), 0)
        #expect(ended(try run(["PORT": "junk"]), 125).error.contains("invalid: PORT"))
        #expect(ended(try run(["SITE": ""]), 125).error.contains("empty: SITE"))
        // The shell's values do not count where the program does not get them.
        ended(try run(["PORT": "junk", "SITE": ""], "--override"), 0)
        ended(try run(["PORT": "junk", "SITE": ""], "--no-inherit"), 0)
        try home.set("PORT", "no-port", "-t", "production")
        ended(try run(["PORT": "8080"]), 0)
        ended(try run([:]), 125)
    }

    @Test
    func `a name is set by Vercel only if Vercel sets it automatically, and defaults are not live`()
        throws
    {
        let home = try SchemaHome(
            """
            # @defaultRequired=true @defaultSensitive=false
            # ---
            VERCEL_DEPLOY_KEY=
            VERCEL_URL=
            REGION=fra1
            API_URL=
            """)
        try home.set("API_URL", "https://a.example", "-t", "production")
        try home.platform.pushed()
        #expect(
            try home.states("--on", "vercel", "-t", "production").filter { !$0.contains("SEED") }
                == [
                    "API_URL production vercel ok", "REGION production vercel default",
                    "VERCEL_DEPLOY_KEY production vercel missing",
                    "VERCEL_URL production vercel elsewhere",
                ])
        let text = done(try home.platform.run("redeploy", "--yes", "--wait")).error
        #expect(text.contains("live: 2 of 4; missing: VERCEL_DEPLOY_KEY;"), "\(text)")
        #expect(text.contains("defaults: REGION"), "\(text)")
    }

    @Test func `push warns of what its plan would say, also without a question`() throws {
        let home = try SchemaHome(
            "# @optional @type=port\nPORT=\n# @deprecated\nOLD=\n# @sensitive\nNEXT_PUBLIC_KEY=\n")
        try home.set("PORT", "junk", "-t", "production")
        try home.set("OLD", "1", "-t", "production")
        let warned = try home.platform.runner(
            ["set", "NEXT_PUBLIC_KEY", "-t", "production"], input: .text("v")
        ).run()
        #expect(done(warned).error.contains("its prefix makes it public"))
        for option in ["--dry-run", "--yes"] {
            let error = done(try home.platform.run("push", option)).error
            #expect(error.contains("invalid: NEXT_PUBLIC_KEY, PORT"), "\(option) \(error)")
            #expect(error.contains("OLD is declared deprecated"), "\(option) \(error)")
        }
        // A public prefix makes a sensitive value invalid, whatever else is said of it.
        #expect(
            try home.states("-t", "production", "NEXT_PUBLIC_KEY") == [
                "NEXT_PUBLIC_KEY production vault invalid"
            ])
    }

    @Test func `files with values are not imported, by whatever name`() throws {
        let home = try SchemaHome(
            "# @import(./.env.shared)\n# @import(./.env.prod)\n# @import(./.env.production.bak)\n# @import(./.env.test.example)\n# ---\nA=\n"
        )
        for name in [".env.local", ".env.prod", ".env.production.bak"] {
            try home.write("CANARY=canary\n", to: name)
        }
        try home.write("B=\n", to: ".env.test.example")
        #expect(unsafe symlink(".env.local", home.path(".env.shared")) == 0)
        let result = done(
            try home.platform.run("check", "--print", "--json", "--schema", ".env.schema"))
        #expect(!result.output.contains("canary"))
        let items = try JSONDocument(result.standardOutput)["items"]?.elements ?? []
        #expect(items.map { $0["key"] } == ["A", "B"])
    }

    @Test func `types count as checked only where they were`() throws {
        let home = try SchemaHome("# @type=port\nPORT=\n")
        try home.set("PORT", "3000", "-t", "production")
        try home.platform.pushed()
        func checked(_ side: String) throws -> JSONDocument? {
            try json(home.check("-t", "production", "--on", side))["typesChecked"]
        }
        #expect(try checked("vault") == true)
        #expect(try checked("vercel") == false)
    }
}
