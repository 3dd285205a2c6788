import Foundation
import Glibc
import TestSupport
import Testing

@Suite("backup and restore")
struct BackupTests {
    /// A home with a backup of a vault that has changed since.
    private func backedUp() throws -> (home: CommandHome, file: String) {
        let home = try CommandHome.filled()
        let file = home.directory.path("copy.zgv")
        done(try home.run(["backup", file]))
        try home.store(["A": "third", "C": "sea"])
        return (home, file)
    }

    @Test func `a backup is the vault byte for byte, readable by its owner only`() throws {
        let home = try CommandHome.filled()
        let file = home.directory.path("copy.zgv")
        let result = try json(home.run(["backup", file, "--json"]))
        #expect(result["file"] == .string(file))
        #expect(result["versions"] == 3)
        #expect(result["valuesOpened"] == true)
        #expect(try home.directory.read("copy.zgv") == (try home.vaultBytes()))
        #expect(try mode(file) == 0o600)
    }

    @Test func `a backup replaces a file only with --force, and never the vault`() throws {
        let home = try CommandHome.filled()
        let file = try home.directory.write("mine", to: "taken")
        failed(try home.run(["backup", file]), 5, "--force")
        #expect(try home.directory.read("taken") == Array("mine".utf8))
        let plan = try json(home.run(["backup", file, "--force", "--dry-run", "--json"]))
        #expect(plan["dryRun"] == true)
        #expect(try home.directory.read("taken") == Array("mine".utf8))
        done(try home.run(["backup", file, "--force"]))
        #expect(try home.directory.read("taken") == (try home.vaultBytes()))
        let before = try home.vaultBytes()
        for path in [home.vaultPath, home.vaultPath + ".lock"] {
            failed(try home.run(["backup", path, "--force"]), 2)
        }
        #expect(try home.vaultBytes() == before)
        failed(try home.run(["backup", home.directory.path("no/such/folder")]), 4, "directory")
    }

    @Test func `a backup replaces no pipe and no link, even with --force`() throws {
        let home = try CommandHome.filled()
        let (pipe, link) = (home.directory.path("pipe"), home.directory.path("link"))
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(unsafe symlink("nowhere", link) == 0)
        for path in [pipe, link] {
            failed(try home.run(["backup", path]), 5)
            failed(try home.run(["backup", path, "--force"]), 2, "not a regular file")
            var status = stat()
            #expect(unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
        }
    }

    @Test func `a damaged vault cannot be backed up`() throws {
        let home = try CommandHome.filled()
        var bytes = try home.vaultBytes()
        bytes[bytes.count - 1] ^= 1
        try home.directory.write(bytes, to: "data/zg-env/vault.zgv")
        failed(try home.run(["backup", home.directory.path("copy.zgv")]), 8)
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("copy.zgv")))
    }

    @Test func `restore shows its plan, asks, and keeps the replaced vault`() throws {
        let (home, file) = try backedUp()
        let before = try home.vaultBytes()
        failedAsking(try home.run(["restore", file]))
        try failedAsJSON(home.run(["restore", file, "--json"]), 2, "usage")
        let plan = try json(home.run(["restore", file, "--dry-run", "--json"]))
        #expect(plan["dryRun"] == true)
        #expect(plan["otherVault"] == false)
        #expect(try home.vaultBytes() == before)

        let result = try json(home.run(["restore", file, "--yes", "--json"]))
        #expect(result["generation"] == 7)
        let kept = try #require(result["kept"]?.text)
        #expect(kept.hasPrefix(home.vaultPath + ".replaced-2"))
        #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: kept))) == before)
        #expect(try mode(kept) == 0o600)
        try home.throwFirstProblem()
        // The replaced vault has used version 3.
        let set = try json(
            home.run(["set", "A", "-p", "web", "--json"], input: .text("fourth")))
        #expect(set["version"] == 4)
    }

    private func failedAsking(_ result: ProgramResult) {
        #expect(result.status == 2, "\(result.error)")
        #expect(result.error.contains("replace generation 6 of"))
        #expect(result.error.contains("--yes"))
    }

    @Test func `on a terminal the answer decides`() throws {
        let (home, file) = try backedUp()
        let before = try home.vaultBytes()
        var runner = home.terminalRunner(
            ["restore", file, "--passphrase-file", home.passphrasePath],
            script: [(.terminal("[y/N] "), .line("n"))])
        #expect(try runner.run().status == 1)
        #expect(try home.vaultBytes() == before)
        runner.script = [(.terminal("[y/N] "), .line("y"))]
        done(try runner.run())
        try home.throwFirstProblem()
    }

    @Test func `a backup that is damaged or does not open changes nothing`() throws {
        let (home, file) = try backedUp()
        let before = try home.vaultBytes()
        failed(try home.run(["restore", file, "--yes", "--passphrase-file", home.other]), 3)
        failed(try home.run(["restore", file, "--yes"], unlocked: false), 3)
        var bytes = try home.directory.read("copy.zgv")
        bytes[bytes.count - 1] ^= 1
        try home.directory.write(bytes, to: "damaged")
        failed(try home.run(["restore", home.directory.path("damaged"), "--yes"]), 8)
        try home.directory.write("hello", to: "none")
        failed(try home.run(["restore", home.directory.path("none"), "--yes"]), 8)
        failed(try home.run(["restore", home.directory.path("missing"), "--yes"]), 4)
        failed(try home.run(["restore", home.vaultPath, "--yes"]), 2)
        #expect(try home.vaultBytes() == before)
        let folder = home.directory.path("data/zg-env")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(Set(names) == ["vault.zgv", "vault.zgv.lock"])
    }

    @Test func `another vault needs an explicit option`() throws {
        let (home, file) = try backedUp()
        let other = try CommandHome.initialised()
        let before = try other.vaultBytes()
        failed(try other.run(["restore", file, "--yes"]), 5, "different vault", "--other-vault")
        #expect(try other.vaultBytes() == before)
        done(try other.run(["restore", file, "--yes", "--other-vault"]))
        try other.throwFirstProblem()
        withExtendedLifetime(home) {}
    }

    @Test func `a backup from a disk without owners restores on a machine without a vault`() throws
    {
        let (home, file) = try backedUp()
        let empty = try CommandHome()
        #expect(unsafe chmod(file, 0o644) == 0)
        let result = try json(empty.run(["restore", file, "--yes", "--json"]))
        #expect(result["kept"] == .null)
        #expect(try mode(empty.vaultPath) == 0o600)
        try empty.throwFirstProblem()
        withExtendedLifetime(home) {}
    }

    @Test func `a keyring slot whose key is missing here is reported with a hint`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        let file = home.directory.path("copy.zgv")
        done(try home.run(["backup", file]))
        let restore = ["restore", file, "--yes", "--json"]
        #expect(try json(home.run(restore))["warnings"] == nil)
        let id = try #require(try home.slotIDs("secret-service").first)
        try keyring.deleteItems()
        let warnings = try json(home.run(restore))["warnings"]?.elements ?? []
        #expect(warnings.map { $0["code"] } == ["keyring-key-missing"])
        let message = warnings.first?["message"]?.text ?? ""
        #expect(message.contains("zg-env slot add secret-service"))
        #expect(message.contains("slot remove \(id.prefix(8))"))
        // Without a bus it is unknown.
        let noBus = ["DBUS_SESSION_BUS_ADDRESS": ""]
        #expect(try json(home.run(restore, environment: noBus))["warnings"] == nil)
    }

    @Test func `on a machine with a keyring, a backup without a slot for it says how to add one`()
        throws
    {
        let (home, file) = try backedUp()
        let keyring = try PrivateKeyring()
        let warnings =
            try json(
                home.run(["restore", file, "--yes", "--json"], environment: keyring.environment))[
                "warnings"]?.elements ?? []
        #expect(warnings.map { $0["code"] } == ["no-keyring-slot"], "\(warnings)")
        #expect(
            warnings.first?["message"]?.text?.contains("zg-env slot add secret-service") == true)
    }

    @Test func `a damaged vault is replaced and kept`() throws {
        let (home, file) = try backedUp()
        try home.directory.write("rubbish", to: "data/zg-env/vault.zgv")
        let result = try json(home.run(["restore", file, "--yes", "--json"]))
        #expect(result["warnings"]?.elements.map { $0["code"]?.text } == ["versions-may-repeat"])
        let kept = try #require(result["kept"]?.text)
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == Data("rubbish".utf8))
        try home.throwFirstProblem()
    }

    // MARK: - Across a rekey

    @Test func `READER-1: after a restore across a rekey the audit log is still intact`() throws {
        let home = try CommandHome.filled()
        let file = home.directory.path("copy.zgv")
        done(try home.run(["reveal", "A", "-p", "web"]))
        done(try home.run(["backup", file]))
        done(try home.run(["rekey", "--yes"]))
        done(try home.run(["reveal", "A", "-p", "web"]))
        let later = home.directory.path("later.zgv")
        done(try home.run(["backup", later]))
        let restored = try json(home.run(["restore", file, "--yes", "--json"]))
        #expect(restored["auditLogWhole"] == true)
        #expect(restored["warnings"] == nil)
        try home.throwFirstProblem()
        let commands = try json(home.run(["log", "--json"]))["entries"]?.elements
            .compactMap { $0["command"]?.text }.filter { $0 != "set" }
        #expect(commands == ["reveal", "rekey", "reveal", "reveal"])
        // And back again, with lines under three keys.
        done(try home.run(["rekey", "--yes"]))
        done(try home.run(["restore", later, "--yes"]))
        try home.throwFirstProblem()
        done(try home.run(["restore", file, "--yes"]))
        try home.throwFirstProblem()
        #expect(try json(home.run(["log", "--json"]))["whole"] == true)
    }

    @Test func `READER-1: a restore that cannot read the log's newer lines says so`() throws {
        let home = try CommandHome.filled()
        let file = home.directory.path("copy.zgv")
        done(try home.run(["reveal", "A", "-p", "web"]))
        done(try home.run(["backup", file]))
        done(try home.run(["rekey", "--yes"]))
        done(try home.run(["reveal", "A", "-p", "web"]))
        try FileManager.default.removeItem(atPath: home.vaultPath)
        let result = done(try home.run(["restore", file, "--yes"]))
        #expect(result.error.contains("zg-env log --accept"), "\(result.error)")
        #expect(try home.run(["verify"]).status == 8)
        done(try home.run(["log", "--accept", "--yes"]))
        try home.throwFirstProblem()
    }
}
