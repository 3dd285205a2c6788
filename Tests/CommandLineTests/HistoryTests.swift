import Foundation
import Sealing
import TestSupport
import Testing
import Vault

@Suite("History and names")
struct HistoryTests {
    private func home() throws -> CommandHome {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "one", "KEY": "two", "KEY": "three"])
        return home
    }

    @Test func `every earlier value can be shown, and restored under its number`() throws {
        let home = try home()
        let history = try json(home.run(["history", "KEY", "-p", "web", "--json"]))
        let versions = history["versions"]?.elements ?? []
        #expect(versions.map { $0["version"]?.text ?? "\($0["version"] as Any)" }.count == 3)
        #expect(versions.map { $0["current"] == true } == [false, false, true])
        #expect(versions.allSatisfy { isTime($0["createdAt"]) })
        #expect(try home.revealed("KEY", "--version", "1") == Array("one".utf8))
        done(try home.run(["restore-version", "KEY", "1", "-p", "web"]))
        #expect(try home.revealed("KEY") == Array("one".utf8))
        #expect(try home.revealed("KEY", "--version", "3") == Array("three".utf8))
        let after = try json(home.run(["history", "KEY", "-p", "web", "--json"]))
        #expect(after["versions"]?.elements.map { $0["current"] } == [true, false, false])
        // The next value has a number of its own.
        try home.store(["KEY": "four"])
        #expect(try home.revealed("KEY", "--version", "4") == Array("four".utf8))
    }

    @Test func `a missing version is not found`() throws {
        let home = try home()
        failed(try home.run(["reveal", "KEY", "-p", "web", "--version", "9"]), 4, "no version 9")
        failed(
            try home.run(["restore-version", "KEY", "-p", "web", "9"]), 4,
            "no version 9")
        failed(try home.run(["history", "NONE", "-p", "web"]), 4, "NONE")
    }

    @Test func `a removed variable keeps its history and can be restored`() throws {
        let home = try home()
        done(try home.run(["rm", "KEY", "-p", "web", "--yes"]))
        let removed = try json(home.run(["list", "-p", "web", "--deleted", "--json"]))
        #expect(removed["variables"]?.elements.map { $0["key"]?.text } == ["KEY"])
        done(try home.run(["restore-version", "KEY", "2", "-p", "web"]))
        #expect(try home.revealed("KEY") == Array("two".utf8))
        #expect(try home.scopes(of: "KEY") == ["production,preview,development"])
    }

    @Test("VAL-F2: an empty version replaces another value only with --allow-empty")
    func empty() throws {
        let home = try home()
        done(try home.run(["set", "KEY", "-p", "web", "--allow-empty"], input: .text("")))
        try home.store(["KEY": "five"])
        let restore = ["restore-version", "KEY", "4", "-p", "web"]
        let before = try home.vaultBytes()
        for options in [[], ["--yes"]] {
            failed(
                try home.run(restore + options), 2,
                "Empty values would replace the values of KEY", "Nothing was restored",
                "--allow-empty")
        }
        try failedAsJSON(home.run(restore + ["--json"]), 2, "usage")
        #expect(try home.vaultBytes() == before)
        done(try home.run(restore + ["--allow-empty"]))
        #expect(try home.revealed("KEY") == [])
        // An empty one, or a removed one, is not lost.
        done(try home.run(restore))
        try home.store(["KEY": "seven"])
        done(try home.run(["rm", "KEY", "-p", "web", "--yes"]))
        done(try home.run(restore))
    }

    @Test func `a version number is never reused, not even after a removal`() throws {
        let home = try home()
        done(try home.run(["rm", "KEY", "-p", "web", "--yes"]))
        let set = try json(
            home.run(["set", "KEY", "-p", "web", "--json"], input: .text("four")))
        #expect(set["version"] == 4)
    }

    @Test func `a removed variable's versions go on in the next one of its name`() throws {
        let home = try home()
        done(try home.run(["rm", "KEY", "-p", "web", "--yes"]))
        try home.store(["KEY": "new"])
        done(try home.run(["restore-version", "KEY", "1", "-p", "web"]))
        #expect(try home.revealed("KEY") == Array("one".utf8))
        #expect(try home.revealed("KEY", "--version", "4") == Array("new".utf8))
        #expect(try home.scopes(of: "KEY") == ["production,preview,development"])
    }

    @Test func `a renamed variable takes the versions of its removed targets along`() throws {
        let home = try CommandHome.initialised()
        func set(_ key: String, _ value: String, _ target: String) throws {
            done(
                try home.run(
                    ["set", key, "-p", "web", "-t", target, "--raw"], input: .text(value)))
        }
        try set("NEW", "old", "production")
        done(try home.run(["rm", "NEW", "-p", "web", "--yes"]))
        try set("KEY", "one", "production")
        try set("KEY", "two", "preview")
        done(try home.run(["rm", "KEY", "-p", "web", "-t", "production", "--yes"]))
        done(try home.run(["rename", "KEY", "NEW", "-p", "web"]))
        done(try home.run(["restore-version", "NEW", "1", "-p", "web", "-t", "production"]))
        #expect(try home.revealed("NEW", "-t", "production") == Array("one".utf8))
        failed(try home.run(["history", "KEY", "-p", "web"]), 4, "KEY")
        // What the other variable of that name had is still there, under a number of its own.
        #expect(try home.revealed("NEW", "--version", "3") == Array("old".utf8))
        done(try home.run(["restore-version", "NEW", "3", "-p", "web", "-t", "production"]))
        #expect(try home.revealed("NEW", "-t", "production") == Array("old".utf8))
        #expect(try home.revealed("NEW", "-t", "preview") == Array("two".utf8))
        done(try home.run(["verify"]))
    }

    @Test func `a removed variable comes back for all targets that had the version`() throws {
        let home = try CommandHome.initialised()
        for (target, type) in [("production", "plain"), ("preview", "sensitive")] {
            done(
                try home.run(
                    ["set", "KEY", "-p", "web", "-t", target, "--type", type],
                    input: .text(target)))
        }
        done(
            try home.run(
                ["set", "KEY", "-p", "web", "-t", "production,preview"], input: .text("both")))
        done(try home.run(["rm", "KEY", "-p", "web", "--all", "--yes"]))
        done(try home.run(["restore-version", "KEY", "3", "-p", "web"]))
        let list = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(list["variables"]?.elements.map { $0["type"] } == ["sensitive", "plain"])
        #expect(list["variables"]?.elements.map { $0["version"] } == [3, 3])
    }

    @Test func `restoring needs the passphrase, history does not`() throws {
        let home = try home()
        failed(
            try home.run(
                ["restore-version", "KEY", "1", "-p", "web"], unlocked: false), 3)
    }

    @Test func `renaming keeps values and versions readable`() throws {
        let home = try home()
        done(try home.run(["rename", "KEY", "OTHER", "-p", "web"]))
        #expect(try home.revealed("OTHER") == Array("three".utf8))
        #expect(try home.revealed("OTHER", "--version", "1") == Array("one".utf8))
        failed(try home.run(["reveal", "KEY", "-p", "web"]), 4, "KEY")
        done(try home.run(["rename", "OTHER", "THIRD", "-p", "web"]))
        #expect(try home.revealed("THIRD", "--version", "2") == Array("two".utf8))
        try home.store(["THIRD": "four", "TAKEN": "x"])
        #expect(try home.revealed("THIRD") == Array("four".utf8))
        failed(try home.run(["rename", "THIRD", "TAKEN", "-p", "web"]), 5, "TAKEN")
    }

    @Test func `unreadable settings prune nothing, and a warning says so`() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "first"])
        let vault = try Vault(opening: home.vaultPath, in: PosixFileStore())
        let passphrase = try Array(CommandHome.passphrase.utf8).withBytes {
            try SecretBytes(copying: $0)
        }
        let keys = try vault.open(with: passphrase, memoryLimitBytes: nil).keys
        try Vault.update(
            home.vaultPath, in: PosixFileStore(), keys: keys, vaultID: vault.header.vaultID
        ) { transaction in
            for number in 1...3 {
                _ = try Array("old \(number)".utf8).withBytes {
                    try transaction.store($0, forVariableAt: 0, at: UInt64(number))
                }
            }
        }
        let versions = {
            try json(home.run(["history", "KEY", "-p", "web", "--json"]))["versions"]?.elements
                .count ?? 0
        }
        let before = try versions()
        #expect(before > 2)
        try home.directory.makeDirectory("config/zg-env")
        try home.directory.write("{", to: "config/zg-env/config.json")
        let set = try json(
            home.run(["set", "KEY", "-p", "web", "--json"], input: .text("new")))
        let warnings = set["warnings"]?.elements ?? []
        #expect(warnings.map { $0["code"] } == ["history-not-pruned"])
        #expect(warnings.first?["message"]?.text?.contains("config.json") == true)
        try FileManager.default.removeItem(
            atPath: home.directory.path("config/zg-env/config.json"))
        #expect(try versions() == before + 1)
    }

    @Test func `young versions are never pruned`() throws {
        let home = try home()
        let pruned = try json(
            home.run(["history", "prune", "KEY", "--keep", "1", "-p", "web", "--yes", "--json"]))
        #expect(pruned["pruned"]?.elements.count == 0)
        #expect(try home.revealed("KEY", "--version", "1") == Array("one".utf8))
    }

    @Test func `a project is renamed with its contents, and removed after a question`() throws {
        let home = try home()
        done(try home.run(["project", "rename", "web", "site"]))
        #expect(try home.revealed("KEY", project: "site") == Array("three".utf8))
        try home.store(["KEY": "x"], in: "other")
        failed(try home.run(["project", "rename", "site", "other"]), 5, "other")
        let unasked = try home.run(["project", "remove", "site"])
        #expect(unasked.status == 2)
        done(try home.run(["project", "remove", "site", "--yes"]))
        failed(try home.run(["list", "-p", "site"]), 4, "site")
        #expect(try home.revealed("KEY", project: "other") == Array("x".utf8))
    }

    @Test func `list --stale shows what has not changed for a time`() throws {
        let home = try home()
        let young = try json(home.run(["list", "-p", "web", "--stale", "1d", "--json"]))
        #expect(young["variables"]?.elements.count == 0)
        let all = try json(home.run(["list", "-p", "web", "--stale", "0s", "--json"]))
        #expect(all["variables"]?.elements.count == 1)
        #expect(try home.run(["list", "-p", "web", "--stale", "90"]).status == 2)
        // A variable with its own period is stale once that has passed.
        done(try home.run(["set", "KEY", "-p", "web", "--rotate-every", "1s"]))
        usleep(1_100_000)
        let due = try json(home.run(["list", "-p", "web", "--stale", "1d", "--json"]))
        #expect(due["variables"]?.elements.map { $0["key"] } == ["KEY"])
        done(try home.run(["set", "KEY", "-p", "web", "--rotate-every", "1h"]))
        let early = try json(home.run(["list", "-p", "web", "--stale", "1d", "--json"]))
        #expect(early["variables"]?.elements.count == 0)
    }

    @Test func `READER-3: a removed variable shows its last version and can be restored`()
        throws
    {
        let home = try home()
        done(try home.run(["rm", "KEY", "-p", "web", "--all", "--yes"]))
        let table = done(try home.run(["history", "KEY", "-p", "web"])).output
        let lines = table.split(separator: "\n").filter { $0.contains("removed") }
        #expect(lines.count == 1 && lines.first?.contains(" 3 ") == true, "\(table)")
        done(try home.run(["verify"]))
        done(try home.run(["restore-version", "KEY", "3", "-p", "web"]))
        #expect(try home.revealed("KEY") == Array("three".utf8))
    }
}
