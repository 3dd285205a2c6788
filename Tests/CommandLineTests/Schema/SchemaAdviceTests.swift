import Foundation
import TestSupport
import Testing

/// What a schema does in commands whose work is something else: a line, unless a check is required.
@Suite("Schemas in other commands")
struct SchemaAdviceTests {
    private static let schema = """
        # @defaultSensitive=false
        # ---
        # The main database.
        DATABASE_URL=
        # @type=port
        PORT=
        """

    @Test func `run says one line, and with check it starts nothing`() throws {
        let home = try SchemaHome(Self.schema)
        let platform = home.platform
        try home.set("PORT", "http", "-t", "development")
        let child = done(try platform.run("run", "--", "touch", "made"))
        #expect(
            child.error.contains(
                "According to .env.schema, in development, missing: DATABASE_URL; invalid: PORT (zg-env check)."
            ))
        try FileManager.default.removeItem(atPath: home.path("made"))
        let refused = ended(try platform.run("run", "--check", "--", "touch", "made"), 125)
        #expect(refused.error.contains("DATABASE_URL"))
        #expect(!FileManager.default.fileExists(atPath: home.path("made")))
        // What the shell has is there, too.
        try home.set("PORT", "80", "-t", "development")
        done(
            try platform.run(
                "run", "--check", "--", "true", environment: ["DATABASE_URL": "postgres://x"]))
        // Fine: nothing is said.
        try home.set("DATABASE_URL", "postgres://x", "-t", "development")
        let quiet = done(try platform.run("run", "--check", "--", "true"))
        #expect(!quiet.error.contains("env.schema"))
    }

    @Test func `push shows what is missing, and with check it sends nothing`() throws {
        let home = try SchemaHome(Self.schema)
        let platform = home.platform
        try home.set("PORT", "80")
        let plan = done(try platform.run("push", "--dry-run"))
        #expect(plan.output.contains("create PORT") || plan.error.contains("create PORT"))
        let writes = try platform.writes {
            let refused = ended(try platform.run("push", "--check", "--yes"), 2)
            #expect(refused.error.contains("missing: DATABASE_URL"))
            #expect(refused.error.contains("Nothing was sent."))
        }
        #expect(writes == [])
        try home.set("DATABASE_URL", "postgres://x")
        done(try platform.run("push", "--check", "--yes"))
        #expect(platform.records("PORT") == ["production,preview,development=80"])
    }

    @Test
    func `the vault's setting requires what a schema cannot, and the schema cannot turn it off`()
        throws
    {
        let home = try SchemaHome(Self.schema)
        let platform = home.platform
        try home.set("PORT", "80", "-t", "development")
        done(try platform.run("run", "--", "true"))
        done(try platform.run("config", "set", "schema-check", "on"))
        ended(try platform.run("run", "--", "true"), 125)
        ended(try platform.run("push", "--yes"), 2)
        #expect(try json(platform.run("config", "get", "schema-check", "--json"))["value"] == "on")
        let list = try json(platform.run("config", "list", "--json"))["settings"]?.elements ?? []
        #expect(list.contains { $0["key"] == "schema-check" && $0["in"] == "vault" })
        try home.set("DATABASE_URL", "x", "-t", "development")
        done(try platform.run("run", "--", "true"))
        // Strictly, a project without a schema is refused, too.
        try FileManager.default.removeItem(atPath: home.path(".env.schema"))
        done(try platform.run("run", "--", "true"))
        done(try platform.run("config", "set", "schema-check", "strict"))
        ended(try platform.run("run", "--", "true"), 125)
        done(try platform.run("config", "set", "schema-check", "off"))
        done(try platform.run("run", "--", "true"))
        ended(try platform.run("config", "set", "schema-check", "maybe"), 2)
        ended(try platform.run("config", "set", "schema-env.", "preview"), 2)
        ended(try platform.run("config", "set", "schema-env.uat", "prod"), 2)
    }

    @Test func `set shows what is declared, warns of a misfit and refuses it strictly`() throws {
        let home = try SchemaHome(Self.schema)
        let platform = home.platform
        let odd = done(try platform.run("set", "PORT", "--raw", input: .text("http-canary")))
        #expect(odd.error.contains("does not match the type port in .env.schema"))
        #expect(!odd.error.contains("canary"))
        let refused = ended(
            try platform.run("set", "PORT", "--raw", "--strict", input: .text("http")), 2)
        #expect(refused.error.contains("does not match the type port"))
        let near = done(
            try platform.run("set", "DATABASE_URI", "--yes", "--raw", input: .text("x")))
        #expect(near.error.contains("Did you mean DATABASE_URL?"))
        // The description becomes the comment of a new variable.
        done(try platform.run("set", "DATABASE_URL", "--raw", "--yes", input: .text("x")))
        let shown = try json(platform.run("show", "DATABASE_URL", "--json"))
        #expect("\(shown)".contains("The main database."))
    }

    @Test func `a declared secret becomes sensitive where that is possible, and never elsewhere`()
        throws
    {
        let home = try SchemaHome(
            "# @sensitive\nSTATED=\nIMPLICIT=\n# @public\nOPEN=\n")
        let platform = home.platform
        try home.set("STATED", "1", "-t", "production")
        try home.set("IMPLICIT", "1", "-t", "production")
        try home.set("OPEN", "1", "-t", "production")
        try home.set("STATED", "1", "-t", "development")
        let list = try json(platform.run("list", "--json"))["variables"]?.elements ?? []
        let types = list.map {
            "\($0["key"]?.text ?? "") \($0["targets"]?.elements.first?.text ?? "") \($0["type"]?.text ?? "")"
        }.sorted()
        #expect(
            types == [
                "IMPLICIT production encrypted", "OPEN production encrypted",
                "STATED development encrypted", "STATED production sensitive",
            ])
    }

    @Test func `import, list and status say what is still missing`() throws {
        let home = try SchemaHome(Self.schema)
        let platform = home.platform
        try home.write("PORT=eighty\n", to: "some.env")
        // The project exists before its first import.
        try home.set("OTHER", "1")
        let imported = done(try platform.run("import", "some.env", "-t", "production"))
        #expect(
            imported.error.contains(
                "Declared in .env.schema but still missing in production: DATABASE_URL"))
        #expect(imported.error.contains("does not match the type port"))
        ended(try platform.run("import", "some.env", "-t", "production", "--strict"), 2)
        #expect(
            done(try platform.run("list")).error.contains("Declared but missing in production: 1"))
        #expect(
            done(try platform.run("status")).output.contains(
                "Declared but missing in production: 1"))
        let status = try json(platform.run("status", "--json"))
        #expect(status["declaredMissing"]?.texts == ["DATABASE_URL"])
    }

    @Test func `rotate can require that the new value fits`() throws {
        let home = try SchemaHome(
            "# @defaultSensitive=false\n# ---\n# @type=string(minLength=20)\nAPI_KEY=\n# @type=port\nPORT=\n"
        )
        let platform = home.platform
        try home.set("API_KEY", "0123456789012345678901")
        try platform.pushed()
        let missing = ended(
            try platform.run(
                "rotate", "API_KEY", "--generate", "hex:32", "--check-schema", "--yes"), 2)
        #expect(missing.error.contains("missing: PORT"))
        try home.set("PORT", "80")
        try platform.pushed()
        let short = ended(
            try platform.run("rotate", "API_KEY", "--generate", "hex:8", "--check-schema", "--yes"),
            2)
        #expect(short.error.contains("does not match the type string"))
        #expect(
            platform.records("API_KEY") == ["production,preview,development=0123456789012345678901"]
        )
        done(
            try platform.run(
                "rotate", "API_KEY", "--generate", "hex:32", "--check-schema", "--yes"))
    }

    @Test func `a setting that was changed with the index key alone is shown before values leave`()
        throws
    {
        let home = try SchemaHome(Self.schema)
        let platform = home.platform
        try home.set("PORT", "80", "-t", "development")
        done(try platform.run("config", "set", "schema-check", "on"))
        // Only somebody who can open the values changes it.
        ended(try platform.run("config", "set", "schema-check", "off", unlocked: false), 3)
        ended(try platform.run("config", "unset", "schema-check", unlocked: false), 3)
    }
}
