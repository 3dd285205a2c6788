import Foundation
import TestSupport
import Testing

/// Where the values of a file go without `-t`.
@Suite("The targets of imported files")
struct ImportTargetTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
    }

    private func imported(_ files: String..., options: [String] = []) throws -> JSONDocument {
        try json(home.run(["import"] + files + ["-p", "web", "--json"] + options))
    }

    private func value(_ key: String, _ target: String) throws -> String? {
        let result = try home.run(["reveal", key, "-p", "web", "-t", target])
        return result.status == 0 ? result.output : nil
    }

    @Test(
        "USE-L1: a file's name says its target",
        arguments: [
            (".env.production", "production"), (".env.production.local", "production"),
            (".env.prod", "production"), ("prod.env", "production"),
            (".env.preview", "preview"), (".env.preview.local", "preview"),
            (".env.development", "development"), (".env.development.local", "development"),
            (".env.dev", "development"), (".env.local", "development"),
            ("settings.local", "development"), (".env.laptop.local", "development"),
            (".vercel/.env.preview.local", "preview"), (".env.staging", "staging"),
            (".env.staging.local", "staging"),
        ])
    func names(file: String, target: String) throws {
        // A custom environment counts if the project knows it.
        done(
            try home.run(["set", "KNOWN", "-p", "web", "-t", "staging"], input: .text("1")))
        try home.store(["URL": "before"])
        try home.directory.makeDirectory("work/.vercel")
        try home.directory.write("URL=after\nNEW=1\n", to: "work/\(file)")
        let planned = try imported(file, options: ["--dry-run"])
        let result = try imported(file)
        for document in [planned, result] {
            let chosen = document["files"]?.elements.first
            #expect(chosen?["chosenBy"] == "file-name")
            let places =
                (chosen?["targets"]?.texts ?? []) + (chosen?["customEnvironments"]?.texts ?? [])
            #expect(places == [target], "\(document)")
        }
        #expect(try home.scopes(of: "NEW") == [target])
        // No other target's value changes.
        for place in ["production", "preview", "development"] {
            #expect(try value("URL", place) == (place == target ? "after" : "before"), "\(place)")
        }
    }

    @Test(
        "USE-L1: a file for tests or for an unknown environment needs -t",
        arguments: [
            ".env.test", ".env.test.local", ".env.testing", ".env.staging", ".env.example",
            ".env.production.example", ".env.preview.feat", ".env-test",
        ])
    func refused(file: String) throws {
        try home.directory.write("A=1\n", to: "work/\(file)")
        let before = try home.vaultBytes()
        failed(try home.run(["import", file, "-p", "web"]), 2, file, "-t")
        failed(try home.run(["import", file, "-p", "web", "--dry-run", "--yes"]), 2, file, "-t")
        #expect(try home.vaultBytes() == before)
        let result = try imported(file, options: ["-t", "preview"])
        #expect(result["files"]?.elements.first?["chosenBy"] == "option")
        #expect(try home.scopes(of: "A") == ["preview"])
    }

    @Test("USE-L1: first lines come before the name, and the name before the writer")
    func precedence() throws {
        let header = "# Created by Vercel CLI\n"
        let line = "# vercel-env: target="
        for (file, text, chosenBy, scope) in [
            (".env.development", line + "production\nA=1\n", "header", "production"),
            (
                ".env", header + line + "preview gitBranch=feat/x pulledAt=1\nB=1\n", "header",
                "preview@feat/x"
            ),
            ("any", line + "staging\nC=1\n", "header", "staging"),
            (".env.production", header + "D=\"1\"\n", "file-name", "production"),
            (".env", header + "E=\"1\"\n", "vercel-cli", "development"),
            // Only the first lines count.
            (".env", "F=1\n" + line + "production\n", "none", "production,preview,development"),
        ] {
            try home.directory.write(text, to: "work/\(file)")
            let result = try imported(file)
            #expect(result["files"]?.elements.first?["chosenBy"] == .string(chosenBy), "\(text)")
            let key = result["created"]?.texts.first ?? ""
            #expect(try home.scopes(of: key) == [scope], "\(text)")
        }
        try home.directory.write(line + "no/such\nA=1\n", to: "work/.env")
        failed(try home.run(["import", ".env", "-p", "web"]), 2, ".env", "-t")
        try home.directory.write(line + "prodution\nA=1\n", to: "work/.env")
        failed(try home.run(["import", ".env", "-p", "web"]), 2, "production")
    }

    @Test("USE-L1: the file of one target never changes the value of another one")
    func eachTargetItsOwn() throws {
        try home.directory.write("DATABASE_URL=postgres://prod\n", to: "work/.env.production")
        try home.directory.write("DATABASE_URL=postgres://localhost\n", to: "work/.env.development")
        for files in [
            [".env.production", ".env.development"], [".env.development", ".env.production"],
        ] {
            let result = done(try home.run(["import"] + files + ["-p", "web"]))
            #expect(result.error.contains(".env.production: imported for production"))
            #expect(try value("DATABASE_URL", "production") == "postgres://prod")
            #expect(try value("DATABASE_URL", "development") == "postgres://localhost")
            #expect(try value("DATABASE_URL", "preview") == nil)
        }
    }

    @Test("USE-L1: a later file wins in its own targets, and again changes nothing")
    func overlappingFiles() throws {
        try home.directory.write("A=all\nB=all\n", to: "work/.env")
        try home.directory.write("A=mine\n", to: "work/.env.local")
        let first = try imported(".env", ".env.local")
        #expect(first["created"] == ["A", "B"])
        #expect(try value("A", "production") == "all")
        #expect(try value("A", "preview") == "all")
        #expect(try value("A", "development") == "mine")
        #expect(try home.scopes(of: "B") == ["production,preview,development"])
        let again = try imported(".env", ".env.local")
        #expect(again["unchanged"] == ["A", "B"] && again["updated"] == [])
        // The other way round `.env` is the later one.
        let text = try home.run(["import", ".env.local", ".env", "-p", "other", "--remove"])
        #expect(text.end == .exited(1))
        #expect(text.error.contains(".env.local was not deleted"), "\(text.error)")
        #expect(text.error.contains("Deleted .env."), "\(text.error)")
        let kept = done(try home.run(["import", ".env.local", "-p", "third", "--remove"]))
        #expect(kept.error.contains("Deleted .env.local"))
    }

    @Test("USE-L1: with -t every file is for those targets, and the last one wins")
    func options() throws {
        try home.directory.write("A=1\n", to: "work/.env.production")
        try home.directory.write("A=2\n", to: "work/.env.local")
        _ = try imported(".env.production", ".env.local", options: ["-t", "preview"])
        #expect(try home.scopes(of: "A") == ["preview"])
        #expect(try value("A", "preview") == "2")
    }

    @Test("USE-L1: a sensitive variable of a file for development is refused")
    func sensitive() throws {
        try home.directory.write("A=1\n", to: "work/.env.local")
        failed(
            try home.run(["import", ".env.local", "-p", "web", "--type", "sensitive"]), 2,
            "development")
    }

    @Test(
        "USE-L1: a terminal asks once where the variables of a file without a target belong",
        arguments: [
            ("1", "development"), ("3", "production"), ("4", "production,preview,development"),
            ("", "development"),
        ])
    func asked(answer: String, scope: String) throws {
        try home.directory.write("A=1\n", to: "work/.env")
        try home.directory.write("B=1\n", to: "work/other")
        let result = try home.terminalRunner(
            ["import", ".env", "other", "-p", "web", "--passphrase-file", home.passphrasePath],
            streams: true,
            script: [
                (.terminal("Targets"), .line(answer)),
                (.terminal("Link this directory"), .line("n")),
            ]
        ).run()
        #expect(done(result).stepsDone == 2, "\(result.screen)")
        #expect(try home.scopes(of: "A") == [scope])
        #expect(try home.scopes(of: "B") == [scope])
        // Nothing new: nothing to ask.
        let again = try home.terminalRunner(
            ["import", ".env", "-p", "web", "--passphrase-file", home.passphrasePath],
            streams: true, script: [(.terminal("Link this directory"), .line("n"))]
        ).run()
        #expect(!done(again).screen.contains("Which targets"), "\(again.screen)")
    }

    @Test("USE-L1: without a terminal the summary names the targets of a plain file")
    func unasked() throws {
        try home.directory.write("A=1\n", to: "work/.env")
        let result = done(try home.run(["import", ".env", "-p", "web"]))
        #expect(result.error.contains("production, preview, development"), "\(result.error)")
        #expect(result.error.contains("choose others with -t"))
    }
}
