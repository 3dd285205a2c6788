import Foundation
import TestSupport
import Testing

/// `copy` to targets and projects.
@Suite("Copying variables")
struct CopyTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
    }

    private func set(_ key: String, _ value: String, _ options: String...) throws {
        done(try home.run(["set", key, "-p", "web"] + options, input: .text(value)))
    }

    private func copied(_ arguments: String...) throws -> JSONDocument {
        try json(home.run(["copy", "-p", "web", "--json"] + arguments))
    }

    @Test("VAL-F2: an empty value replaces another one only with --allow-empty")
    func empty() throws {
        try set("KEY", "", "-t", "preview", "--allow-empty")
        try set("KEY", "live", "-t", "production")
        let copy = ["copy", "KEY", "-p", "web", "-t", "preview", "--to-target", "production"]
        let before = try home.vaultBytes()
        for options in [[], ["--yes"], ["--dry-run", "--yes"]] {
            failed(
                try home.run(copy + options), 2,
                "Empty values would replace the values of KEY", "Nothing was copied",
                "--allow-empty")
        }
        try failedAsJSON(home.run(copy + ["--json"]), 2, "usage")
        var asked = home.terminalRunner(
            copy, script: [(.terminal("Copy the empty values?"), .line("n"))])
        asked.environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath
        #expect(try asked.run().end == .exited(1))
        #expect(try home.vaultBytes() == before)
        asked.script = [(.terminal("Copy the empty values?"), .line("y"))]
        done(try asked.run())
        #expect(try home.revealed("KEY", "-t", "production") == [])
        // Where nothing is replaced, nothing is asked.
        done(try home.run(copy.dropLast() + ["staging"]))
        try set("KEY", "live again", "-t", "production")
        done(try home.run(copy + ["--allow-empty"]))
        #expect(try home.revealed("KEY", "-t", "production") == [])
    }

    @Test func `copy gives a target the value of another`() throws {
        try set("KEY", "live", "-t", "production")
        let first = try copied("KEY", "--to-target", "preview")
        #expect(first["created"] == ["KEY"])
        // One version is one line of a list.
        #expect(try home.scopes(of: "KEY") == ["production,preview"])
        #expect(try home.revealed("KEY", "-t", "preview") == Array("live".utf8))
        // Already the same.
        #expect(
            try copied("KEY", "-t", "production", "--to-target", "preview")["unchanged"] == ["KEY"])
        try set("KEY", "newer", "-t", "production")
        let again = try copied("KEY", "-t", "production", "--to-target", "preview")
        #expect(again["updated"] == ["KEY"])
        #expect(try home.revealed("KEY", "-t", "preview") == Array("newer".utf8))
        // A copy is the same version, and so is no version of its own.
        #expect(try home.revealed("KEY", "--version", "1") == Array("live".utf8))
        #expect(try home.revealed("KEY", "--version", "2") == Array("newer".utf8))
        failed(try home.run(["copy", "KEY", "-p", "web", "--to-target", "development"]), 2, "-t")
        failed(try home.run(["copy", "KEY", "-p", "web", "--to-target", "prod"]), 2, "production")
    }

    @Test func `copy takes the target from its previous record and names that record`() throws {
        try set("KEY", "shared", "-t", "preview,development")
        try set("KEY", "live", "-t", "production")
        let result = done(
            try home.run(
                ["copy", "KEY", "-p", "web", "-t", "production", "--to-target", "preview"]))
        #expect(result.error.contains("development"))
        #expect(try home.scopes(of: "KEY") == ["development", "production,preview"])
        #expect(try home.revealed("KEY", "-t", "development") == Array("shared".utf8))
        // The target already has this record's value.
        try set("ALL", "1")
        let none = try copied("ALL", "--to-target", "preview")
        #expect(none["unchanged"] == ["ALL"])
        #expect(try home.scopes(of: "ALL") == ["production,preview,development"])
    }

    @Test func `copy to another project keeps type, comment and history`() throws {
        try set("KEY", "one", "--type", "plain", "--comment", "why")
        try set("KEY", "two")
        try set("OTHER", "x")
        let result = done(
            try home.run(["copy", "KEY", "OTHER", "-p", "web", "--to-project", "api"]))
        #expect(result.error.contains("Created project api."))
        let list = try json(home.run(["list", "KEY", "-p", "api", "--json"]))
        let record = try #require(list["variables"]?.elements.first)
        #expect(record["type"] == "plain")
        #expect(record["comment"] == "why")
        #expect(try home.revealed("KEY", project: "api") == Array("two".utf8))
        #expect(try home.revealed("KEY", "--version", "1", project: "api") == Array("one".utf8))
        #expect(try home.revealed("KEY") == Array("two".utf8))
        #expect(try copied("KEY", "--to-project", "api")["unchanged"] == ["KEY"])
        #expect(try copied("KEY", "--to-project", "api")["projectCreated"] == false)
        failed(try home.run(["copy", "KEY", "-p", "web", "--to-project", "web"]), 2, "web")
        failed(try home.run(["copy", "KEY", "-p", "web"]), 2, "--to-target")
        failed(
            try home.run(
                ["copy", "KEY", "-p", "web", "--to-project", "a", "--to-target", "preview"]), 2)
    }

    @Test func `copy is all or nothing, and --dry-run changes nothing`() throws {
        try set("KEY", "one")
        let before = try home.vaultBytes()
        failed(
            try home.run(["copy", "KEY", "NONE", "-p", "web", "--to-project", "api"]), 4, "NONE")
        let planned = try copied("KEY", "--to-project", "api", "--dry-run")
        #expect(planned["created"] == ["KEY"])
        #expect(planned["dryRun"] == true)
        #expect(planned["projectCreated"] == true)
        #expect(try home.vaultBytes() == before)
        failed(
            try home.run(
                ["copy", "KEY", "-p", "web", "--to-project", "api"], unlocked: false), 3)
    }

    @Test func `a sensitive variable is not copied to development`() throws {
        try set("KEY", "one", "--type", "sensitive", "-t", "production")
        failed(
            try home.run(["copy", "KEY", "-p", "web", "--to-target", "development"]), 2,
            "sensitive", "--type encrypted")
        #expect(try copied("KEY", "--to-target", "preview")["created"] == ["KEY"])
    }
}
