import TestSupport
import Testing

/// The main workflow, with a passphrase file and without a terminal.
@Suite("The main flow")
struct MainFlowTests {
    private static let file = """
        # the shop
        DATABASE_URL=postgres://app:pa55@db.example/shop
        STRIPE_KEY="sk_live_1 2"
        EMPTY=

        """

    /// A home whose project `web` has the variables of ``file``.
    private func imported() throws -> CommandHome {
        let home = try CommandHome.initialised()
        try home.directory.write(Self.file, to: "work/.env")
        done(try home.run(["import", ".env", "-p", "web"]))
        return home
    }

    @Test func `init creates a vault and prints its path`() throws {
        let home = try CommandHome()
        let made = try json(home.run(["init", "--lock", "--kdf", "8MiB,1", "--json"]))
        #expect(made["vault"] == .string(home.vaultPath))
        #expect(made["id"]?.text?.count == 32)
        #expect(made["secretService"] == .null)
        #expect(made["warnings"]?.elements.first?["code"] == "weak-kdf")

        let other = try CommandHome()
        let text = done(try other.run(["init", "--lock", "--kdf", "8MiB,1"]))
        #expect(text.output == "")
        #expect(text.error.contains("Created vault \(other.vaultPath)."))
    }

    @Test func `import prints the outcome of every key`() throws {
        let home = try CommandHome.initialised()
        let path = try home.directory.write(Self.file, to: "work/.env")
        let first = done(try home.run(["import", ".env", "-p", "web"]))
        #expect(
            first.output == """
                created  DATABASE_URL  production, preview, development
                created  STRIPE_KEY    production, preview, development
                created  EMPTY         production, preview, development

                """)
        #expect(first.error.contains("Created project web."))
        #expect(first.error.contains("EMPTY has an empty value."))
        #expect(first.error.contains(".env is still on disk in plain text"))

        try home.directory.write("DATABASE_URL=new\nSTRIPE_KEY='sk_live_1 2'\n", to: "work/.env")
        let second = try json(home.run(["import", path, "-p", "web", "--json"]))
        #expect(
            second.names.isSuperset(of: [
                "created", "updated", "unchanged", "skipped", "diagnostics", "compared",
                "projectCreated",
            ]))
        #expect(second["created"] == [])
        #expect(second["updated"] == ["DATABASE_URL"])
        #expect(second["unchanged"] == ["STRIPE_KEY"])
        #expect(second["skipped"] == [])
        #expect(second["compared"] == true)
        #expect(second["projectCreated"] == false)
        #expect(second["warnings"]?.elements.map { $0["code"]?.text } == ["plaintext-left"])

        let list = try json(home.run(["list", "-p", "web", "--json"]))
        let versions = list["variables"]?.elements.map { $0["version"] }
        #expect(versions == [2, 1, 1])
    }

    @Test func `import follows --on-conflict`() throws {
        let home = try imported()
        let arguments = ["import", "-", "-p", "web", "--json", "--on-conflict"]
        let input = ProgramRunner.Input.text("STRIPE_KEY=other\nNEW=1\n")
        let before = try home.vaultBytes()
        let text = try failedAsJSON(home.run(arguments + ["fail"], input: input), 5, "conflict")
        #expect(text.contains("STRIPE_KEY"))
        #expect(try home.vaultBytes() == before)
        let skipped = try json(home.run(arguments + ["skip"], input: input))
        #expect(skipped["skipped"] == ["STRIPE_KEY"])
        #expect(skipped["created"] == ["NEW"])
        #expect(try home.revealed("STRIPE_KEY") == Array("sk_live_1 2".utf8))
        let overwritten = try json(home.run(arguments + ["overwrite"], input: input))
        #expect(overwritten["updated"] == ["STRIPE_KEY"])
        #expect(overwritten["unchanged"] == ["NEW"])
        #expect(try home.revealed("STRIPE_KEY") == Array("other".utf8))
    }

    @Test func `import removes the file only with --remove and after the save`() throws {
        let home = try CommandHome.initialised()
        try home.directory.write("A=1\n", to: "work/.env")
        let result = done(try home.run(["import", ".env", "-p", "web", "--remove"]))
        #expect(result.error.contains("Deleted .env."))
        #expect(throws: (any Error).self) { try home.directory.read("work/.env") }
        #expect(try home.revealed("A") == Array("1".utf8))

        try home.directory.write("A=1\n", to: "work/kept.env")
        failed(
            try home.run(
                ["import", "kept.env", "-p", "web", "--remove"],
                environment: ["ZG_ENV_PASSPHRASE_FILE": "/nonexistent"]), 2)
        #expect(try home.directory.read("work/kept.env") == Array("A=1\n".utf8))
    }

    @Test func `import is all or nothing`() throws {
        let home = try imported()
        let before = try home.vaultBytes()
        try home.directory.write("GOOD=1\n", to: "work/a")
        try home.directory.write([0x41, 0x3D, 0xFF, 0x0A], to: "work/b")
        failed(try home.run(["import", "a", "b", "-p", "web"]), 2, "b")
        failed(try home.run(["import", "a", "missing", "-p", "web"]), 2, "missing")
        failed(try home.run(["import", "a", ".", "-p", "web"]), 2)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `--dry-run of import and set changes nothing`() throws {
        let home = try imported()
        let before = try home.vaultBytes()
        let plan = try json(
            home.run(
                ["import", "-", "-p", "web", "--json", "--dry-run"],
                input: .text("STRIPE_KEY=x\nN=1\n")))
        #expect(plan["dryRun"] == true)
        #expect(plan["created"] == ["N"])
        #expect(plan["updated"] == ["STRIPE_KEY"])
        let set = try json(
            home.run(["set", "N", "-p", "web", "--json", "--dry-run"], input: .text("1")))
        #expect(set["dryRun"] == true)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `list shows every member of the contract and no value`() throws {
        let home = try imported()
        let list = try json(home.run(["list", "-p", "web", "--json"]))
        #expect(list.names == ["project", "asOf", "sharedAsOf", "variables", "hiddenProduction"])
        #expect(list["project"] == "web")
        #expect(list["asOf"] == .null)
        let variables = try #require(list["variables"]?.elements)
        #expect(variables.map { $0["key"] } == ["DATABASE_URL", "EMPTY", "STRIPE_KEY"])
        for variable in variables {
            #expect(
                variable.names.isSuperset(of: [
                    "key", "type", "targets", "customEnvironments", "branch", "comment", "version",
                    "createdAt", "updatedAt", "sync", "live", "removed", "shared",
                ]))
            #expect(variable["type"] == "encrypted")
            #expect(variable["targets"] == ["production", "preview", "development"])
            #expect(variable["customEnvironments"] == [])
            #expect(variable["branch"] == .null)
            #expect(variable["comment"] == .null)
            #expect(variable["version"] == 1)
            #expect(isTime(variable["createdAt"]) && isTime(variable["updatedAt"]))
            #expect(variable["sync"] == "local")
            #expect(variable["live"] == .null)
            #expect(variable["shared"] == false)
        }
    }

    @Test func `list takes a pattern, a target and --all-projects`() throws {
        let home = try imported()
        done(
            try home.run(
                ["set", "ONLY_PROD", "-p", "api", "-t", "production"], input: .text("1")))
        let pattern = try json(home.run(["list", "*_KEY", "-p", "web", "--json"]))
        #expect(pattern["variables"]?.elements.map { $0["key"] } == ["STRIPE_KEY"])
        let preview = try json(home.run(["list", "-p", "api", "-t", "preview", "--json"]))
        #expect(preview["variables"] == [])
        let all = try json(home.run(["list", "--all-projects", "--json"]))
        #expect(all.names == ["projects"])
        #expect(all["projects"]?.elements.map { $0["project"] } == ["api", "web"])
        #expect(all["projects"]?.elements.map { $0["variables"]?.elements.count } == [1, 3])
        let text = done(try home.run(["list", "-p", "api"]))
        #expect(
            text.output == """
                KEY        TARGETS     TYPE       UPDATED   VERSION  SYNC   LIVE
                ONLY_PROD  production  encrypted  just now        1  local

                """)
        #expect(text.error == "")
    }

    @Test func `show prints scopes, versions and times`() throws {
        let home = try imported()
        done(
            try home.run(["set", "EMPTY", "-p", "web", "--comment", "note"], input: .text("full")))
        let shown = try json(home.run(["show", "EMPTY", "-p", "web", "--json"]))
        let record = try #require(shown["records"]?.elements.first)
        #expect(record["version"] == 2)
        #expect(record["comment"] == "note")
        #expect(record["remoteId"] == .null)
        #expect(record["versions"]?.elements.map { $0["version"] } == [1, 2])
        let text = done(try home.run(["show", "EMPTY", "-p", "web"]))
        #expect(text.output.contains("Scope     production, preview, development\n"))
        #expect(text.output.contains("Comment   note\n"))
        failed(try home.run(["show", "EMPTI", "-p", "web"]), 4, "EMPTI", "Did you mean EMPTY?")
    }

    @Test func `reveal prints the bytes alone, several keys as dotenv, and JSON`() throws {
        let home = try imported()
        let one = done(try home.run(["reveal", "STRIPE_KEY", "-p", "web", "-t", "production"]))
        #expect(one.output == "sk_live_1 2")
        #expect(one.error == "")
        let empty = done(try home.run(["reveal", "EMPTY", "-p", "web"]))
        #expect(empty.output == "")
        let several = done(try home.run(["reveal", "STRIPE_KEY", "EMPTY", "-p", "web"]))
        #expect(several.output == "STRIPE_KEY='sk_live_1 2'\nEMPTY=\n")
        let revealed = try json(home.run(["reveal", "STRIPE_KEY", "-p", "web", "--json"]))
        #expect(revealed.names == ["variables"])
        let entry = try #require(revealed["variables"]?.elements.first)
        #expect(entry["key"] == "STRIPE_KEY")
        #expect(entry["targets"] == ["production", "preview", "development"])
        #expect(entry["branch"] == .null)
        #expect(entry["version"] == 1)
        #expect(entry["value"] == "sk_live_1 2")
        failed(try home.run(["reveal", "STRIPE_KEY", "NONE", "-p", "web"]), 4, "NONE")
    }

    @Test func `run passes the values to the program`() throws {
        let home = try imported()
        let result = done(
            try home.run(
                ["run", "-p", "web", "-t", "production", "--", "printenv", "STRIPE_KEY"]))
        #expect(result.output == "sk_live_1 2\n")
        #expect(result.error == "")
    }

    @Test func `set, rm and export work as documented`() throws {
        let home = try imported()
        let set = try json(home.run(["set", "TOKEN", "-p", "web", "--json"], input: .text("t=1")))
        #expect(set["key"] == "TOKEN")
        #expect(set["created"] == true)
        #expect(set["projectCreated"] == false)
        #expect(set["version"] == 1)
        let text = done(try home.run(["set", "TOKEN", "-p", "web"], input: .text("t=2")))
        #expect(text.output == "")
        #expect(text.error.contains("Set TOKEN in web"))
        #expect(text.error.contains("version 2"))

        let before = try home.vaultBytes()
        let unanswered = try home.run(["rm", "TOKEN", "-p", "web"])
        #expect(unanswered.status == 2)
        #expect(unanswered.error.contains("remove TOKEN from web for production"))
        #expect(unanswered.error.contains("--yes"))
        try failedAsJSON(home.run(["rm", "TOKEN", "-p", "web", "--json"]), 2, "usage")
        let dry = try json(home.run(["rm", "TOKEN", "-p", "web", "--json", "--dry-run"]))
        #expect(dry["dryRun"] == true)
        #expect(try home.vaultBytes() == before)
        let removed = try json(home.run(["rm", "TOKEN", "-p", "web", "--json", "--yes"]))
        #expect(removed["key"] == "TOKEN")
        failed(try home.run(["reveal", "TOKEN", "-p", "web"]), 4)
        failed(try home.run(["rm", "TOKEN", "-p", "web", "--yes"]), 4)

        // A version number is never reused, not even after a removal.
        let again = try json(home.run(["set", "TOKEN", "-p", "web", "--json"], input: .text("t")))
        #expect(again["version"] == 3)
        done(try home.run(["rm", "TOKEN", "-p", "web", "-y"]))

        let exported = done(try home.run(["export", "-p", "web", "-t", "production"]))
        #expect(
            exported.output == """
                DATABASE_URL=postgres://app:pa55@db.example/shop
                EMPTY=
                STRIPE_KEY='sk_live_1 2'

                """)
        let object = try json(
            home.run(["export", "-p", "web", "-t", "production", "--format", "json"]))
        #expect(
            object == [
                "DATABASE_URL": "postgres://app:pa55@db.example/shop", "EMPTY": "",
                "STRIPE_KEY": "sk_live_1 2",
            ])
    }

    @Test func `export creates a private file and never overwrites one unasked`() throws {
        let home = try imported()
        let arguments = ["export", "-p", "web", "-t", "production", "-o", "out.env"]
        let first = done(try home.run(arguments))
        #expect(first.output == "")
        #expect(first.error.contains("out.env"))
        let bytes = try home.directory.read("work/out.env")
        #expect(try mode(home.directory.path("work/out.env")) == 0o600)
        failed(try home.run(arguments), 5, "out.env", "--force")
        #expect(try home.directory.read("work/out.env") == bytes)
        try home.directory.write("old", to: "work/out.env", mode: 0o644)
        done(try home.run(arguments + ["--force"]))
        #expect(try home.directory.read("work/out.env") == bytes)
        #expect(try mode(home.directory.path("work/out.env")) == 0o600)
        let again = try json(home.run(arguments + ["--force", "--json"]))
        #expect(again["file"] == "out.env")
        // The export imports unchanged.
        let back = try json(home.run(["import", "out.env", "-p", "web", "--json"]))
        #expect(back["unchanged"]?.elements.count == 3)
    }

    @Test func `an export that the format cannot hold names the variables`() throws {
        let home = try CommandHome.initialised()
        try home.store(["LINES": "a\nb"])
        let result = try home.run(["export", "-p", "web", "-t", "preview", "--format", "docker"])
        failed(result, 2, "LINES", "json")
        let file = try home.run(["export", "-p", "web", "--format", "docker", "-o", "out"])
        failed(file, 2, "LINES")
        #expect(throws: (any Error).self) { try home.directory.read("work/out") }
    }

    @Test func `status shows the vault and needs no passphrase`() throws {
        let home = try imported()
        let open = try json(home.run(["status", "-p", "web", "--json"]))
        #expect(open["vault"] == .string(home.vaultPath))
        #expect(open["format"] == 3)
        #expect(open["variables"] == 3)
        #expect(open["project"] == "web")
        #expect(open["account"] == .null)
        #expect(open["notPushed"] == [])
        #expect(open["notLive"] == [])
        let slot = try #require(open["slots"]?.elements.first)
        #expect(slot["kind"] == "passphrase")
        #expect(slot["memoryBytes"] == .integer(8 << 20))
        #expect(slot["operations"] == 1)
        let locked = try json(home.run(["status", "--json"], unlocked: false))
        #expect(locked["index"] == "locked")
        #expect(locked["variables"] == .null)
        // What is unknown is null, never missing.
        #expect(locked.names == open.names)
        done(try home.run(["status", "--offline"]))
        failed(try home.run(["status", "--offline", "--refresh"]), 2, "--refresh")
    }
}
