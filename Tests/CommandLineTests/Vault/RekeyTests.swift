import Foundation
import Glibc
import SystemFiles
import TestSupport
import Testing

@Suite("passwd and rekey")
struct RekeyTests {
    @Test func `passwd changes the slot that was opened and keeps its cost`() throws {
        let home = try CommandHome.filled()
        let old = try home.slots()[0]
        let changed = try json(
            home.run(["passwd", "--new-passphrase-file", home.other, "--json"]))
        #expect(changed["replaced"] == old["id"])
        #expect(changed["memoryBytes"] == .integer(8 << 20))
        #expect(changed["operations"] == 1)
        failed(try home.reveal("A", with: home.passphrasePath), 3)
        try home.throwFirstProblem(with: home.other)
        let again = try json(
            home.run([
                "passwd", "--passphrase-file", home.other, "--new-passphrase-file",
                home.passphrasePath, "--kdf", "9MiB,2", "--json",
            ]))
        #expect(again["memoryBytes"] == .integer(9 << 20))
        #expect(try home.slots().count == 1)
        try home.throwFirstProblem()
    }

    @Test func `a failed passwd changes nothing`() throws {
        let home = try CommandHome.filled()
        let before = try home.vaultBytes()
        failed(
            try home.run([
                "passwd", "--passphrase-file", home.other, "--new-passphrase-file", home.other,
            ]), 3)
        failed(try home.run(["passwd"]), 2, "--new-passphrase-file")
        failed(try home.run(["passwd", "--new-passphrase-file", "/dev/null"]), 2)
        failed(try home.run(["passwd", "--new-passphrase-file", home.other], unlocked: false), 3)
        failed(
            try home.run(["passwd", "--new-passphrase-file", home.other, "--kdf", "2GiB,1"]), 2)
        var runner = home.runner(["passwd", "--passphrase-fd", "3", "--new-passphrase-fd", "3"])
        runner.descriptors = [3: Array("x".utf8)]
        failed(try runner.run(), 2, "same descriptor")
        let plan = try json(
            home.run(["passwd", "--new-passphrase-file", home.other, "--dry-run", "--json"]))
        #expect(plan["dryRun"] == true)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `passwd takes both passphrases from descriptors, and asks on a terminal`() throws {
        let home = try CommandHome.filled()
        var runner = home.runner(
            ["passwd", "--passphrase-fd", "3", "--new-passphrase-fd", "4"], unlocked: false)
        runner.descriptors = [
            3: Array(CommandHome.passphrase.utf8), 4: Array("another passphrase\n".utf8),
        ]
        done(try runner.run())
        try home.throwFirstProblem(with: home.other)
        let typed = try home.terminalRunner(
            ["passwd"],
            script: [
                (.terminal("Current passphrase"), .line("another passphrase")),
                (.terminal("New passphrase"), .line("third")),
                (.terminal("Confirm passphrase"), .line("third")),
            ]
        ).run()
        done(typed)
        #expect(!typed.screen.contains("third"))
        try home.throwFirstProblem(with: try home.directory.write("third", to: "third"))
    }

    @Test func `a rekey is in the audit log, and the log is intact under both keys`() throws {
        let home = try CommandHome.filled()
        try home.addOther()
        done(try home.run(["reveal", "A", "-p", "web"]))
        done(try home.run(["rekey", "--yes"]))
        let log = try json(home.run(["log", "--json"]))
        let entries = log["entries"]?.elements.filter { $0["command"] == "rekey" } ?? []
        #expect(entries.map { $0["outcome"] } == ["done"])
        #expect(entries.first?["names"]?.texts.first == "new keys")
        // The passphrase that was not entered is gone with its slot.
        #expect(entries.first?["names"]?.texts.count == 2)
        #expect(log["whole"] == true)
        try home.throwFirstProblem()
        let status = try json(home.run(["status", "--json"]))
        #expect(status["auditLog"]?["whole"] == true)
        #expect(try home.run(["status"]).output.contains("lines, intact"))
    }

    @Test func `a rekey that cannot be logged does not happen`() throws {
        let home = try CommandHome.filled()
        let before = try home.vaultBytes()
        let result = try home.run(["rekey", "--yes", "--audit-log", home.directory.path("work")])
        failed(result, 1, "--audit-log")
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a recovery code sets a new passphrase after the old one is lost`() throws {
        let home = try CommandHome.filled()
        let code = try home.addRecovery()
        let passwd = [
            "passwd", "--passphrase-file", code, "--new-passphrase-file", home.other,
        ]
        done(try home.run(passwd))
        try home.throwFirstProblem(with: home.other)
        try home.throwFirstProblem(with: code)
        failed(try home.reveal("A", with: home.passphrasePath), 3)
        try home.addOtherPassphrase()
        failed(try home.run(passwd), 2, "--slot")
        let id = try home.slotIDs("passphrase")[1]
        done(try home.run(passwd + ["--slot", id]))
        failed(try home.run(passwd + ["--slot", try home.slotIDs("recovery")[0]]), 2)
        failed(try home.run(passwd + ["--slot", "zz"]), 4)
    }

    @Test func `rekey waits for another process that changes the key file`() throws {
        let home = try CommandHome.filled()
        let key = home.directory.path("key")
        done(try home.run(["slot", "add", "file", key, "--values"]))
        let line = String(decoding: try home.directory.read("key"), as: UTF8.self)
        let theirs = line.replacing(
            line.split(separator: " ")[1], with: String(repeating: "a", count: 32))
        let lock = try FileLock(key)
        #expect(try lock.tryLock())
        var runner = home.runner(["rekey", "--key-file", key, "--yes"])
        runner.script = [
            (
                .now,
                .call { process, _ in
                    while !Self.isChanging(key, process) {
                        guard kill(process, 0) == 0 else { return }
                        usleep(5_000)
                    }
                    _ = try? home.directory.write(line + theirs, to: "new", mode: 0o600)
                    unsafe rename(home.directory.path("new"), key)
                    try? lock.file.close()
                }
            )
        ]
        done(try runner.run())
        let after = String(decoding: try home.directory.read("key"), as: UTF8.self)
        #expect(after.contains(theirs) && !after.contains(line), "\(after)")
        #expect(
            try home.run(["list", "-p", "web", "--key-file", key], unlocked: false).status == 0)
    }

    /// Whether a process has a file open for reading and writing.
    private static func isChanging(_ path: String, _ process: Int32) -> Bool {
        Directory.names(in: "/proc/\(process)/fd").contains { number in
            let link = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(process)/fd/\(number)")
            let facts = try? String(
                contentsOfFile: "/proc/\(process)/fdinfo/\(number)", encoding: .utf8)
            return link == path && facts?.contains("2\nmnt_id") == true
        }
    }

    @Test func `rekey shows its plan, asks, and keeps the slots whose secret is given`() throws {
        let home = try CommandHome.filled()
        try home.addOther()
        let code = try home.addRecovery()
        let key = home.directory.path("key")
        done(try home.run(["slot", "add", "file", key, "--values"]))
        let before = try home.vaultBytes()
        let arguments = ["rekey", "--slot-secret-file", code, "--key-file", key]
        let asked = try home.run(arguments)
        #expect(asked.status == 2)
        #expect(asked.error.contains("REMOVE the passphrase slot"))
        try failedAsJSON(home.run(arguments + ["--json"]), 2, "usage")
        let plan = try json(home.run(arguments + ["--dry-run", "--json"]))
        #expect(
            plan["kept"]?.elements.map { $0["kind"]?.text } == ["passphrase", "recovery", "file"])
        #expect(plan["removed"]?.elements.map { $0["kind"]?.text } == ["passphrase"])
        #expect(try home.vaultBytes() == before)
        let keyBefore = try home.directory.read("key")

        let result = try json(home.run(arguments + ["--yes", "--json"]))
        #expect(result["versions"] == 3)
        #expect(result["slots"]?.elements.count == 3)
        #expect(result["removed"]?.elements.count == 1)
        try home.throwFirstProblem()
        try home.throwFirstProblem(with: code)
        failed(try home.reveal("A", with: home.other), 3)
        let revealed = try home.run(
            ["reveal", "A", "-p", "web", "--key-file", key], unlocked: false)
        #expect(done(revealed).output == "second")
        // The old key is gone from its file, which still has one line.
        let keyAfter = try home.directory.read("key")
        #expect(keyAfter != keyBefore)
        #expect(keyAfter.count == keyBefore.count)
        let old = Set(try oldSlots(before))
        #expect(try home.slots().allSatisfy { !old.contains($0["id"]?.text ?? "") })
    }

    /// The slot ids in a vault's bytes: the first 16 bytes of each 192-byte slot, from byte 80 on.
    private func oldSlots(_ bytes: [UInt8]) throws -> [String] {
        stride(from: 80, to: 80 + 4 * 192, by: 192).map { start in
            bytes[start..<start + 16].map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
    }

    @Test func `rekey asks on a terminal for the secrets of other slots`() throws {
        let home = try CommandHome.filled()
        try home.addOther()
        let code = try home.addRecovery()
        let result = try home.terminalRunner(
            ["rekey", "--passphrase-file", home.passphrasePath],
            script: [
                (.terminal("code for the passphrase slot"), .line("wrong")),
                (.terminal("Wrong passphrase"), .line("another passphrase")),
                (.terminal("code for the recovery slot"), .line("")),
                (.terminal("[y/N]"), .line("y")),
            ]
        ).run()
        done(result)
        try home.throwFirstProblem()
        try home.throwFirstProblem(with: home.other)
        failed(try home.reveal("A", with: code), 3)
    }

    @Test func `rekey stores a new key in the keyring and removes the old one`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        let old = try home.slotIDs("secret-service")
        done(try home.run(["rekey", "--yes"]))
        let new = try home.slotIDs("secret-service")
        #expect(new.count == 1 && new != old)
        #expect(try keyring.itemCount().unlocked == 2)
        done(try home.run(["list", "-p", "web"], unlocked: false))
        try home.throwFirstProblem()
        // Without the item the slot is dropped, and the plan says so.
        try keyring.deleteItems()
        let plan = done(try home.run(["rekey", "--dry-run"])).output
        #expect(plan.contains("REMOVE the secret-service slot"))
        done(try home.run(["rekey", "--yes"]))
        #expect(try home.slotIDs("secret-service") == [])
        try home.throwFirstProblem()
    }

    @Test func `rekey with a wrong passphrase or of a damaged vault changes nothing`() throws {
        let home = try CommandHome.filled()
        failed(try home.run(["rekey", "--yes", "--passphrase-file", home.other]), 3)
        var bytes = try home.vaultBytes()
        bytes[bytes.count - 1] ^= 1
        try home.directory.write(bytes, to: "data/zg-env/vault.zgv")
        failed(try home.run(["rekey", "--yes"]), 8)
        #expect(try home.vaultBytes() == bytes)
    }
}

extension CommandHome {
    /// Adds a passphrase slot that opens with the second passphrase.
    fileprivate func addOtherPassphrase() throws {
        done(
            try run([
                "slot", "add", "passphrase", "--passphrase-file", other, "--new-passphrase-file",
                passphrasePath, "--kdf", "8MiB,1",
            ]))
    }
}
