import TestSupport
import Testing

/// The section "Scopes" of the documentation.
@Suite("Scopes")
struct ScopeTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
    }

    @discardableResult
    private func set(
        _ value: String, _ options: String..., key: String = "KEY",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONDocument {
        try json(
            home.run(["set", key, "-p", "web", "--json"] + options, input: .text(value)),
            sourceLocation: sourceLocation)
    }

    private func value(_ options: String...) throws -> String {
        let result = try home.run(["reveal", "KEY", "-p", "web"] + options)
        #expect(result.status == 0, "\(result.error)")
        return result.output
    }

    /// What a program gets for a target; nil for nothing.
    private func handed(_ options: String...) throws -> String? {
        let result = try home.run(
            ["run", "-p", "web", "--no-inherit"] + options + ["--", "/usr/bin/printenv", "KEY"])
        return result.status == 0 ? String(result.output.dropLast()) : nil
    }

    @Test func `a new record is for all three targets, a sensitive one not for development`() throws
    {
        #expect(try set("1")["targets"] == ["production", "preview", "development"])
        let sensitive = try set("1", "--type", "sensitive", key: "SAFE")
        #expect(sensitive["targets"] == ["production", "preview"])
        // Where development is named, Vercel decides.
        let named = try set("1", "--type", "sensitive", "-t", "development", key: "NEW")
        #expect(named["targets"] == ["development"] && named["type"] == "sensitive")
        failed(
            try home.run(["set", "KEY", "-p", "web", "--type", "sensitive"], input: .text("1")),
            2, "sensitive")
        failed(
            try home.run(
                ["import", "-", "-p", "web", "--type", "sensitive"], input: .text("KEY=2")), 2,
            "sensitive")
        // A sensitive record cannot take over development either.
        for command in ["set", "import"] {
            let (key, input) = command == "set" ? ("SAFE", "2") : ("-", "SAFE=2")
            failed(
                try home.run(
                    [command, key, "-p", "web", "-t", "production,preview,development"],
                    input: .text(input)), 2, "sensitive")
            failed(
                try home.run(
                    [
                        command, key, "-p", "web", "-t", "production,preview,development",
                        "--dry-run",
                    ],
                    input: .text(input)), 2, "sensitive")
        }
        #expect(try home.scopes(of: "SAFE") == ["production,preview"])
        let opened = try set(
            "2", "--type", "encrypted", "-t", "production,preview,development", key: "SAFE")
        #expect(opened["type"] == "encrypted")
    }

    @Test func `setting named targets leaves the value of the others`() throws {
        try set("all")
        let split = try set("prod", "-t", "production")
        #expect(split["targets"] == ["production"])
        #expect(split["created"] == true)
        #expect(split["touched"]?.elements.count == 1)
        #expect(try home.scopes(of: "KEY") == ["preview,development", "production"])
        #expect(try value("-t", "production") == "prod")
        #expect(try value("-t", "preview") == "all")
        #expect(try value("-t", "development") == "all")

        // An exact match keeps its history.
        let exact = try set("prod 2", "-t", "production")
        #expect(exact["created"] == false)
        // The numbers go on from the value that it replaced for production.
        #expect(exact["version"] == 3)
        #expect(exact["touched"] == [])

        // The targets of two records become one.
        let merged = try set("both", "-t", "preview", "-t", "production")
        #expect(merged["targets"] == ["production", "preview"])
        #expect(try home.scopes(of: "KEY") == ["development", "production,preview"])
        #expect(try value("-t", "development") == "all")
        #expect(try value("-t", "production") == "both")
        #expect(try value("-t", "preview") == "both")
    }

    @Test func `every changed record is named`() throws {
        try set("all")
        let result = done(
            try home.run(["set", "KEY", "-p", "web", "-t", "production"], input: .text("1")))
        #expect(result.error.contains("Set KEY in web for production"))
        #expect(result.error.contains("preview, development"))
        // A record that another one absorbs is named as well.
        try set("preview", "-t", "preview")
        let merged = done(
            try home.run(
                ["set", "KEY", "-p", "web", "-t", "production,preview,development"],
                input: .text("2")))
        #expect(try home.scopes(of: "KEY") == ["production,preview,development"])
        #expect(
            merged.error.split(separator: "\n").filter { $0.contains("Replaced") }.count == 2,
            "\(merged.error)")
    }

    @Test func `several records without a target are ambiguous, and all are named`() throws {
        try set("all")
        try set("prod", "-t", "production")
        let before = try home.vaultBytes()
        for arguments in [
            ["set", "KEY"], ["reveal", "KEY"], ["rm", "KEY", "--yes"], ["import", "-"],
        ] {
            let input = arguments[0] == "import" ? "KEY=1" : "1"
            let result = try home.run(arguments + ["-p", "web"], input: .text(input))
            failed(result, 2, "KEY", "-t")
            if arguments[0] != "import" {
                #expect(result.error.contains("production"))
                #expect(result.error.contains("preview, development"))
            }
        }
        #expect(try home.vaultBytes() == before)
    }

    @Test func `rm removes named targets only, and a record with its last one`() throws {
        try set("all")
        let first = try json(
            home.run(["rm", "KEY", "-p", "web", "-t", "production", "--yes", "--json"]))
        #expect(first["removed"]?.elements.first?["targets"] == ["production"])
        #expect(first["removed"]?.elements.first?["left"] == ["preview", "development"])
        #expect(try home.scopes(of: "KEY") == ["preview,development"])
        #expect(try value("-t", "preview") == "all")
        failed(
            try home.run(["rm", "KEY", "-p", "web", "-t", "production", "--yes"]), 4, "production")
        done(try home.run(["rm", "KEY", "-p", "web", "-t", "preview,development", "--yes"]))
        #expect(try home.scopes(of: "KEY") == [])
    }

    @Test func `rm --all removes every record`() throws {
        try set("all")
        try set("prod", "-t", "production")
        try set("branch", "-b", "feature/x")
        failed(try home.run(["rm", "KEY", "-p", "web", "--all", "-t", "preview", "--yes"]), 2)
        let all = try json(home.run(["rm", "KEY", "-p", "web", "--all", "--yes", "--json"]))
        #expect(all["removed"]?.elements.count == 3)
        #expect(try home.scopes(of: "KEY") == [])
    }

    @Test func `branch records exist beside the general one and win on their branch`() throws {
        try set("all")
        let branch = try set("branch", "-b", "feature/x")
        #expect(branch["targets"] == ["preview"])
        #expect(branch["branch"] == "feature/x")
        #expect(branch["touched"] == [])
        #expect(
            try home.scopes(of: "KEY") == ["preview@feature/x", "production,preview,development"])
        #expect(try handed("-t", "preview") == "all")
        #expect(try handed("-t", "preview", "-b", "feature/x") == "branch")
        #expect(try handed("-b", "feature/x") == "branch")
        #expect(try handed("-b", "feature/y") == "all")
        #expect(try value("-b", "feature/x") == "branch")
        #expect(try value("-t", "preview") == "all")
        for options in [
            ["-t", "production", "-b", "x"], ["-t", "preview,production", "-b", "x"],
            ["-t", "staging", "-b", "x"],
        ] {
            failed(
                try home.run(["set", "KEY", "-p", "web"] + options, input: .text("1")), 2,
                "A branch can be used only if preview is the only target")
        }
        // Removing the general preview value leaves the branch's, and vice versa.
        done(try home.run(["rm", "KEY", "-p", "web", "-t", "preview", "--yes"]))
        #expect(try home.scopes(of: "KEY") == ["preview@feature/x", "production,development"])
        done(try home.run(["rm", "KEY", "-p", "web", "-b", "feature/x", "--yes"]))
        #expect(try home.scopes(of: "KEY") == ["production,development"])
    }

    @Test func `a custom environment sees only its own records`() throws {
        try set("all")
        try set("stage", "-t", "staging")
        #expect(try home.scopes(of: "KEY") == ["production,preview,development", "staging"])
        #expect(try handed("-t", "staging") == "stage")
        #expect(try handed("-t", "preview") == "all")
        #expect(try handed("-t", "quality") == nil)
        #expect(try value("-t", "staging") == "stage")
        let mixed = try set("both", "-t", "staging", "-t", "preview")
        #expect(mixed["targets"] == ["preview"])
        #expect(mixed["customEnvironments"] == ["staging"])
        #expect(try home.scopes(of: "KEY") == ["preview,staging", "production,development"])
        for slip in ["prod", "Production", "preveiw", "dev"] {
            failed(
                try home.run(["set", "KEY", "-p", "web", "-t", slip], input: .text("1")), 2,
                "Did you mean")
        }
    }

    @Test func `reveal, run and export take one target`() throws {
        try set("all")
        for arguments in [["reveal", "KEY"], ["export"], ["run"]] {
            let rest = arguments == ["run"] ? ["--", "true"] : []
            let result = try home.run(
                arguments + ["-p", "web", "-t", "preview", "-t", "production"] + rest)
            failed(result, arguments == ["run"] ? 125 : 2, "one target")
        }
    }

    @Test func `import with targets follows the same rules`() throws {
        try set("all")
        let imported = try json(
            home.run(
                ["import", "-", "-p", "web", "-t", "production", "--json"],
                input: .text("KEY=prod\nNEW=1\n")))
        #expect(imported["created"] == ["NEW"])
        #expect(imported["updated"] == ["KEY"])
        #expect(try home.scopes(of: "KEY") == ["preview,development", "production"])
        #expect(try value("-t", "preview") == "all")
        #expect(try value("-t", "production") == "prod")
        // Without targets, a single record keeps its scope.
        let again = try json(
            home.run(["import", "-", "-p", "web", "--json"], input: .text("NEW=2")))
        #expect(again["updated"] == ["NEW"])
        #expect(try home.scopes(of: "NEW") == ["production"])
    }

    @Test func `only set and import create an unknown project`() throws {
        let set = try set("1")
        #expect(set["projectCreated"] == true)
        for arguments in [
            ["list"], ["show", "KEY"], ["reveal", "KEY"], ["rm", "KEY", "--yes"], ["export"],
        ] {
            let result = try home.run(arguments + ["-p", "wed"])
            failed(result, 4, "wed", "Did you mean web?")
        }
        failed(try home.run(["run", "-p", "wed", "--", "true"]), 125, "wed")
        failed(
            try home.run(["set", "KEY", "-p", "wbe"], input: .text("1")), 2, "Did you mean web?")
        let near = done(try home.run(["set", "KEY", "-p", "wed"], input: .text("1")))
        #expect(near.error.contains("Created project wed."))
        let imported = try json(
            home.run(["import", "-", "-p", "other", "--json"], input: .text("A=1")))
        #expect(imported["projectCreated"] == true)
    }

    @Test func `the project is found in the documented order`() throws {
        try set("1")
        failed(try home.run(["list"]), 2, "-p NAME", "zg-env link NAME")
        let variable = ["ZG_ENV_PROJECT": "web"]
        done(try home.run(["list"], environment: variable))
        failed(try home.run(["list", "-p", "none"], environment: variable), 4, "none")
        failed(try home.run(["list"], environment: ["VERCEL_ORG_ID": "o"]), 2, "VERCEL_PROJECT_ID")
        failed(
            try home.run(["list"], environment: ["VERCEL_ORG_ID": "o", "VERCEL_PROJECT_ID": "p"]),
            4)
        // A directory's link counts only after this vault has approved it.
        try home.directory.write(#"{"project":"web"}"#, to: "work/.zg-env.json")
        failed(try home.run(["list"]), 2, ".zg-env.json", "zg-env link")
        failed(try home.run(["run", "--", "true"]), 125, "zg-env link")
        done(try home.run(["list", "-p", "web"]))
    }
}
