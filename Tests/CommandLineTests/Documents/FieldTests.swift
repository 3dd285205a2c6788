import TestSupport
import Testing

/// Outputs with `--json` that no other test has. The runner compares each with its command's page.
@Suite("Fields of the output with --json")
struct FieldTests {
    @Test func `commands that other tests run for people print what their pages say`() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "1", "B": "2", "C": "3"])
        try home.store(["A": "0"], in: "api")
        let web = ["-p", "web"]
        for arguments in [
            ["completion", "bash"], ["config", "set", "cache-for", "run"],
            ["config", "set", "reveal-from-cache", "true"], ["config", "unset", "cache-for"],
            ["project", "rename", "api", "shop"], ["lock", "--dry-run"],
            ["unlock", "--scope", "user", "--dry-run"],
            ["init", "--vault", "new", "--dry-run"], ["try", "--dry-run"],
            ["reveal", "A", "B", "--dry-run"] + web,
            ["copy", "A", "--to-project", "shop", "-t", "production"] + web,
            ["copy", "A", "--to-project", "shop", "--dry-run"] + web,
            ["set", "B", "C", "--generate", "hex:8", "-t", "preview"] + web,
            ["restore-version", "A", "1", "--dry-run"] + web,
        ] {
            _ = try json(home.run(arguments + ["--json"]))
        }
    }

    @Test func `a schema with everything is printed as the page says`() throws {
        let home = try CommandHome()
        try home.directory.write(
            """
            # @currentEnv=$APP_ENV @import(./.env.shared)
            # ---
            # @type=enum(dev, prod) @example=dev
            APP_ENV=dev
            # @required=forEnv(prod) @docs("About it", https://example.com)
            # @deprecated="use APP_ENV" @internal
            KEY=
            # @optional=forEnv(prod) @deprecated
            OLD=exec(`true`)
            PORT=8080
            """, to: "work/.env.schema")
        try home.directory.write("# @new\nSHARED=\n", to: "work/.env.shared")
        let check = ["check", "--schema", ".env.schema", "--json"]
        let schema = try json(home.run(check + ["--print"]))
        #expect(schema["items"]?.elements.count == 5 && schema["envKey"] == "APP_ENV")
        let types = try json(home.run(check + ["--types", "ts"]))
        #expect(types["text"]?.text?.contains("APP_ENV") == true)
        try home.directory.write(
            """
            [profiles.default]
            A = { description = "a", required = { at_least_one = "some" } }
            B = { description = "b", required = { exactly_one = ["some"] } }
            """, to: "work/secretspec.toml")
        let groups = ["check", "--schema", "secretspec.toml", "--print", "--json"]
        #expect(try json(home.run(groups))["profile"] == "default")
        try home.directory.write("A=changeme\n", to: "work/.env.example")
        let example = ["check", "--schema", ".env.example", "--print", "--json"]
        let item = try json(home.run(example))["items"]?.elements.first
        #expect(item?["placeholder"] == "changeme")
        try home.directory.write("A=\0\n", to: "work/.env.shared")
        let wrong = try JSONDocument(home.run(check + ["--print"]).standardOutput)
        #expect(wrong["error"]?["path"] == "./.env.shared")
    }

    @Test func `a change that goes live has what its pages say`() throws {
        let home = try SchemaHome("# @required\nKEY=\n# @required\nOTHER=\n")
        try home.set("FIRST", "1")
        try home.write("KEY=1\n", to: "some.env")
        let live = ["--push", "--redeploy", "--yes", "--json"]
        let imported = try json(
            home.platform.runner(["import", "some.env", "-t", "production"] + live).run())
        #expect(imported["stillMissing"]?.texts == ["OTHER"])
        #expect(imported["deployment"]?["declared"]?["live"] == 1)
        _ = try json(home.platform.run("redeploy", "--wait", "--yes", "--json"))
        _ = try json(home.platform.runner(["rm", "KEY"] + live).run())
    }
}
