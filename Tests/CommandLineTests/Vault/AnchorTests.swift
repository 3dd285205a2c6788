import Foundation
import Glibc
import TestSupport
import Testing

/// An older copy in place of the vault, and how it is detected.
@Suite("The rollback guard")
struct AnchorTests {
    // MARK: - In the state directory

    @Test func `an older copy is exit 8 for every command, and the newest one is not`() throws {
        let home = try CommandHome.filled()
        let old = try home.vaultBytes()
        try home.store(["A": "third"])
        let new = try home.vaultBytes()
        try home.replaceVault(by: old)
        for (arguments, status, input) in [
            (["list", "-p", "web"], 8, .null), (["reveal", "A", "-p", "web"], 8, .null),
            (["run", "-p", "web", "--", "true"], 125, .null), (["status"], 8, .null),
            (["set", "A", "-p", "web"], 8, .text("x")), (["export", "-p", "web"], 8, .null),
            (["rm", "A", "-p", "web", "--yes"], 8, .null), (["rekey", "--yes"], 8, .null),
            (["backup", "copy"], 8, .null),
        ] as [([String], Int32, ProgramRunner.Input)] {
            failed(
                try home.run(arguments, input: input), status, "older copy",
                "verify --accept-older")
        }
        #expect(try home.vaultBytes() == old)
        let verified = try home.run(["verify", "--json"])
        #expect(verified.status == 8)
        #expect(try JSONDocument(verified.standardOutput)["ok"] == false)
        #expect(try home.verdicts() == ("unavailable", "older"))
        try home.replaceVault(by: new)
        done(try home.run(["list", "-p", "web"]))
        #expect(try home.verdicts() == ("unavailable", "current"))
    }

    @Test func `another history is exit 8, even if it is longer`() throws {
        let home = try CommandHome.filled()
        let base = try home.vaultBytes()
        try home.store(["A": "ours"])
        let ours = try home.vaultBytes()
        let anchors = try home.anchors()
        let seen = try Data(contentsOf: URL(fileURLWithPath: try #require(anchors.first)))
        try home.replaceVault(by: base)
        try home.forgetAnchors()
        try home.store(["A": "theirs"])
        try seen.write(to: URL(fileURLWithPath: anchors[0]))
        failed(try home.run(["list", "-p", "web"]), 8, "is not based on")
        try home.forgetAnchors()
        try home.store(["A": "theirs again"])
        try seen.write(to: URL(fileURLWithPath: anchors[0]))
        failed(try home.run(["list", "-p", "web"]), 8, "is not based on")
        try home.replaceVault(by: ours)
        done(try home.run(["list", "-p", "web"]))
    }

    @Test func `an invalid guard proves nothing, and the next write repairs it`() throws {
        let home = try CommandHome.filled()
        let path = try #require(try home.anchors().first)
        #expect(try mode(path) == 0o600)
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        for content in [Data(), Data("zg-env-anchor-3 x".utf8), good + good, Data(count: 70_000)] {
            try content.write(to: URL(fileURLWithPath: path))
            #expect(try home.verdicts().stateDirectory == "unreadable")
            done(try home.run(["list", "-p", "web"]))
        }
        try home.forgetAnchors()
        #expect(try home.verdicts().stateDirectory == "absent")
        #expect(try home.anchors() == [])
        try home.store(["A": "another"])
        #expect(try home.verdicts().stateDirectory == "current")
    }

    @Test func `a guard that lags behind is advanced`() throws {
        let home = try CommandHome.filled()
        let path = try #require(try home.anchors().first)
        let behind = try Data(contentsOf: URL(fileURLWithPath: path))
        try home.store(["A": "third"])
        let newest = try Data(contentsOf: URL(fileURLWithPath: path))
        try behind.write(to: URL(fileURLWithPath: path))
        done(try home.run(["list", "-p", "web"]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == newest)
    }

    @Test func `a copy elsewhere is compared with its own writes only`() throws {
        let home = try CommandHome.filled()
        let folder = try home.directory.makeDirectory("elsewhere")
        #expect(unsafe chmod(folder, 0o700) == 0)
        let copy = "\(folder)/vault.zgv"
        done(try home.run(["backup", copy]))
        try home.store(["A": "third"])
        done(try home.run(["list", "-p", "web", "--vault", copy]))
        done(try home.run(["set", "A", "-p", "web", "--vault", copy], input: .text("clone")))
        done(try home.run(["list", "-p", "web"]))
        let linked = home.directory.path("linked")
        #expect(unsafe symlink(folder, linked) == 0)
        // The same file by another path has the same guard.
        #expect(try home.anchors().count == 2)
        done(
            try home.run(
                ["set", "A", "-p", "web", "--vault", "\(linked)/vault.zgv"], input: .text("x")))
        #expect(try home.anchors().count == 2)
    }

    @Test func `a write without an updated guard is kept, with a warning`() throws {
        let home = try CommandHome.filled()
        try FileManager.default.removeItem(atPath: home.directory.path("state/zg-env"))
        try home.directory.write("in the way", to: "state/zg-env")
        let log = home.directory.path("log")
        let set = try json(
            home.run(
                ["set", "A", "-p", "web", "--json", "--audit-log", log], input: .text("third")))
        #expect(set["version"] == 3)
        #expect(set["warnings"]?.elements.map { $0["code"]?.text } == ["anchor-not-kept"])
    }

    // MARK: - Accepting an older copy

    @Test func `accept-older needs the passphrase and a yes, and makes the copy the newest`() throws
    {
        let home = try CommandHome.filled()
        let old = try home.vaultBytes()
        try home.store(["A": "third", "B": "other"])
        try home.replaceVault(by: old)
        let accept = ["verify", "--accept-older"]
        failed(try home.run(accept, unlocked: false), 3)
        failed(try home.run(accept + ["--passphrase-file", home.other], unlocked: false), 3)
        let asked = try home.run(accept)
        #expect(asked.status == 2)
        #expect(asked.error.contains("continue with generation 4 of"))
        #expect(asked.error.contains("generation 6 has been seen"))
        let plan = try json(home.run(accept + ["--dry-run", "--json"]))
        #expect(plan["accepted"] == false)
        #expect(plan["generation"] == 7)
        #expect(try home.vaultBytes() == old)
        let accepted = try json(home.run(accept + ["--yes", "--json"]))
        #expect(accepted["accepted"] == true)
        #expect(accepted["generation"] == 7)
        try home.throwFirstProblem()
        #expect(try home.verdicts().stateDirectory == "current")
        // Nothing is left to accept.
        let again = try json(home.run(accept + ["--yes", "--json"]))
        #expect(again["accepted"] == false)
        #expect(again["generation"] == .null)
    }

    @Test func `accept-older refuses a damaged copy`() throws {
        let home = try CommandHome.filled()
        var old = try home.vaultBytes()
        try home.store(["A": "third"])
        old[old.count - 1] ^= 1
        try home.replaceVault(by: old)
        failed(try home.run(["verify", "--accept-older", "--yes"]), 8)
        #expect(try home.vaultBytes() == old)
    }

    @Test func `a guard with the highest number is refused and cannot block the vault`()
        throws
    {
        let home = try CommandHome.filled()
        let path = try #require(try home.anchors().first)
        let line = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        var parts = line.split(separator: " ").map(String.init)
        parts[2] = "\(UInt64.max)"
        try parts.joined(separator: " ").write(toFile: path, atomically: true, encoding: .utf8)
        failed(try home.run(["list", "-p", "web"]), 8, "older copy")
        failed(try home.run(["verify", "--accept-older", "--yes"]), 8, path)
        try home.forgetAnchors()
        done(try home.run(["list", "-p", "web"]))
    }

    @Test func `accept-older reports what it accepted, against what, and if there was nothing`()
        throws
    {
        let home = try CommandHome.filled()
        let old = try home.vaultBytes()
        let accept = ["verify", "--accept-older"]
        let none = done(try home.run(accept + ["--yes"]))
        #expect(
            none.output.contains(
                "This machine has not seen a newer copy; there is nothing to accept.")
        )
        #expect(none.output.contains("in the state directory: this is the newest generation"))
        #expect(none.output.contains("in the keyring: cannot be checked in this session"))
        try home.store(["A": "third", "B": "other"])
        try home.replaceVault(by: old)
        let accepted = done(try home.run(accept + ["--yes"]))
        #expect(
            accepted.output.contains(
                "Accepted generation 4 of \(home.vaultPath), although generation 6 has been seen."))
        #expect(accepted.output.contains("recorded in the state directory (generation 6)."))
        #expect(accepted.output.contains("The vault is now generation 7"))
        // Another history, which is not older.
        try home.replaceVault(by: old)
        let path = try #require(try home.anchors().first)
        let seen = try Data(contentsOf: URL(fileURLWithPath: path))
        try home.forgetAnchors()
        for value in ["a", "b", "c", "d"] { try home.store(["A": value]) }
        try seen.write(to: URL(fileURLWithPath: path))
        let other = done(try home.run(accept + ["--yes"]))
        #expect(
            other.output.contains(
                "which is not based on generation 7, the newest generation seen."),
            "\(other.output)")
    }

    @Test func `a guard that cannot be advanced is reported as behind`() throws {
        let home = try CommandHome.filled()
        let state = home.directory.path("state/zg-env")
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: state).first {
                $0.hasSuffix(".anchor")
            })
        let before = try home.directory.read("state/zg-env/\(name)")
        try home.store(["A": "third"])
        try home.directory.write(before, to: "state/zg-env/\(name)")
        let script = """
            mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" || exit 99
            exec "$@"
            """
        let result = try home.wrapped("/usr/bin/unshare") { program in
            ["--mount", "/bin/sh", "-c", script, state, program, "verify", "--json"]
        }.run()
        let checked = try json(result)
        #expect(checked["checked"]?["anchor"]?["stateDirectory"] == "behind", "\(result.output)")
        #expect(try home.directory.read("state/zg-env/\(name)") == before)
        #expect(try home.verdicts().1 == "moved")
    }

    // MARK: - The audit log of a restored vault

    @Test func `on another machine restore forgets the log and says so`() throws {
        let home = try CommandHome.filled()
        done(try home.run(["reveal", "A", "-p", "web"]))
        try home.store(["A": "another"])
        let file = home.directory.path("copy.zgv")
        done(try home.run(["backup", file]))
        let other = try CommandHome()
        let plan = try json(other.run(["restore", file, "--dry-run", "--json"]))
        #expect(
            plan["plan"]?.texts.contains { $0.contains("start a new audit log") } == true)
        let restored = try json(other.run(["restore", file, "--yes", "--json"]))
        #expect(restored["auditLog"] == "reset")
        #expect(restored["anchor"] == "absent")
        #expect(
            restored["warnings"]?.elements.map { $0["code"]?.text } == ["audit-log-not-here"])
        done(try other.run(["verify"]))
        done(try other.run(["reveal", "A", "-p", "web"]))
        done(try other.run(["verify"]))
        withExtendedLifetime(home) {}
    }

    @Test func `a log that was here and is gone stays missing after a restore`() throws {
        for isReplaced in [true, false] {
            let home = try CommandHome.filled()
            done(try home.run(["reveal", "A", "-p", "web"]))
            try home.store(["A": "another"])
            let file = home.directory.path("copy.zgv")
            done(try home.run(["backup", file]))
            let log = try #require(
                try FileManager.default.contentsOfDirectory(
                    atPath: home.directory.path("state/zg-env")
                ).first { $0.hasSuffix(".log") })
            try FileManager.default.removeItem(
                atPath: home.directory.path("state/zg-env/\(log)"))
            if !isReplaced { try FileManager.default.removeItem(atPath: home.vaultPath) }
            let restored = try json(home.run(["restore", file, "--yes", "--json"]))
            #expect(restored["auditLog"] == "kept")
            let verified = try home.run(["verify"])
            #expect(verified.status == 8)
            #expect(verified.error.contains("audit log"))
            let status = try json(home.run(["status", "--json"]))
            #expect(status["auditLog"]?["whole"] == false)
            #expect(try home.run(["status"]).output.contains("Audit log NOT INTACT"))
        }
    }

    // MARK: - Invalid guards

    @Test func `SEC-F17: an unreadable guard is reported until a write replaces it`()
        throws
    {
        let home = try CommandHome.filled()
        let path = try #require(try home.anchors().first)
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        let backup = home.directory.path("copy.zgv")
        done(try home.run(["backup", backup]))
        func spoil() throws { try Data("garbage".utf8).write(to: URL(fileURLWithPath: path)) }
        func warnings(_ result: ProgramResult) throws -> [String?] {
            try json(result)["warnings"]?.elements.map { $0["code"]?.text } ?? []
        }
        try spoil()
        for arguments in [["status"], ["verify"], ["list", "-p", "web"]] {
            #expect(
                try warnings(home.run(arguments + ["--json"])) == ["anchor-unreadable"],
                "\(arguments)")
            let text = done(try home.run(arguments))
            #expect(text.error.contains("(\(path)) cannot be read"), "\(text.error)")
        }
        // A directory is not replaced.
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(done(try home.run(["status"])).error.contains("remove or rename it"))
        try FileManager.default.removeItem(atPath: path)
        try spoil()
        // The directory proves nothing any more, hence the warning.
        #expect(try home.verdicts().stateDirectory == "unreadable")
        let restored = try warnings(home.run(["restore", backup, "--yes", "--json"]))
        #expect(restored == ["anchor-unreadable"])
        #expect(try home.verdicts().stateDirectory == "current")
        try spoil()
        let set = ["set", "A", "-p", "web", "--json"]
        #expect(try warnings(home.run(set, input: .text("third"))) == ["anchor-unreadable"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count >= good.count)
        #expect(try warnings(home.run(set, input: .text("fourth"))) == [])
        #expect(try home.verdicts().stateDirectory == "current")
    }
}
