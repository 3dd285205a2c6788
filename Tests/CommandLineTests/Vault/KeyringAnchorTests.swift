import Foundation
import Glibc
import TestSupport
import Testing

/// How a real keyring detects older copies of the vault.
@Suite("The rollback guard in a keyring")
struct KeyringAnchorTests {
    @Test func `the keyring detects an older copy if the state directory is gone`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        #expect(try keyring.itemCount() == (2, 0))
        let old = try home.vaultBytes()
        done(try home.run(["set", "A", "-p", "web"], input: .text("third")))
        #expect(try home.verdicts() == ("current", "current"))
        try home.replaceVault(by: old)
        try home.forgetAnchors()
        failed(try home.run(["list", "-p", "web"], unlocked: false), 8, "older copy")
        #expect(try home.verdicts() == ("older", "absent"))
        // With the passphrase too, for readers and writers.
        for (arguments, status, input) in [
            (["reveal", "A", "-p", "web"], 8, .null), (["export", "-p", "web"], 8, .null),
            (["run", "-p", "web", "--", "true"], 125, .null), (["backup", "copy"], 8, .null),
            (["run", "-p", "web", "--redact", "--", "true"], 125, .null),
            (["set", "A", "-p", "web"], 8, .text("x")),
        ] as [([String], Int32, ProgramRunner.Input)] {
            failed(
                try home.run(arguments, input: input), status, "older copy",
                "verify --accept-older")
        }
        // Replacing the file does not help either.
        let state = home.directory.path("state/zg-env")
        try FileManager.default.removeItem(atPath: state)
        failed(try home.run(["reveal", "A", "-p", "web"]), 8, "older copy")
        try FileManager.default.removeItem(atPath: home.directory.path("state"))
        try home.directory.write("in the way", to: "state")
        failed(
            try home.run(["reveal", "A", "-p", "web", "--audit-log", home.directory.path("log")]),
            8, "older copy")
        try FileManager.default.removeItem(atPath: home.directory.path("state"))
        try home.directory.makeDirectory("state")
        #expect(try home.vaultBytes() == old)
        done(try home.run(["verify", "--accept-older", "--yes"]))
        #expect(try home.verdicts() == ("current", "current"))
        done(try home.run(["list", "-p", "web"], unlocked: false))
    }

    @Test func `the keyring's guard is copied to an emptied state directory`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        try home.forgetAnchors()
        done(try home.run(["run", "-p", "web", "--", "true"]))
        #expect(try home.verdicts(environment: ["DBUS_SESSION_BUS_ADDRESS": ""]).1 == "current")
        // A locked one is no obstacle and does not prompt.
        try home.forgetAnchors()
        try keyring.lock()
        done(try home.run(["reveal", "A", "-p", "web"]))
        #expect(try home.anchors() == [])
    }

    @Test func `the keyring gets a guard with its slot`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome(keyring: keyring)
        done(try home.run(["init", "--lock", "--kdf", "8MiB,1", "--no-secret-service"]))
        try home.store(["A": "first"])
        let old = try home.vaultBytes()
        #expect(try keyring.itemCount() == (0, 0))
        done(try home.run(["slot", "add", "secret-service"]))
        #expect(try keyring.itemCount() == (2, 0))
        #expect(try home.verdicts() == ("current", "current"))
        #expect(try home.vaultBytes() != old)
    }

    @Test func `writes without the desktop are added to the guard when it is back`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        let noBus = ["DBUS_SESSION_BUS_ADDRESS": ""]
        for value in ["one", "two"] {
            done(
                try home.run(
                    ["set", "A", "-p", "web"], input: .text(value), environment: noBus))
        }
        #expect(try home.verdicts(environment: noBus) == ("unavailable", "current"))
        #expect(try home.verdicts() == ("moved", "current"))
        #expect(try home.verdicts() == ("current", "current"))
        withExtendedLifetime(keyring) {}
    }

    @Test func `a locked keyring does not prompt for a guard`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        try keyring.lock()
        let start = ContinuousClock.now
        let set = try json(home.run(["set", "A", "-p", "web", "--json"], input: .text("third")))
        #expect(set["warnings"] == nil)
        // A prompt would wait for five seconds.
        #expect(ContinuousClock.now - start < .seconds(4))
        #expect(try home.verdicts() == ("unavailable", "current"))
    }

    @Test func `an overwritten item proves nothing and is replaced`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        try keyring.overwriteItems(with: Array("something else".utf8))
        #expect(try home.verdicts() == ("unreadable", "current"))
        done(try home.run(["set", "A", "-p", "web"], input: .text("third")))
        #expect(try home.verdicts() == ("current", "current"))
    }

    @Test func `restore, rekey and passwd continue from the guard`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        let file = home.directory.path("copy.zgv")
        done(try home.run(["backup", file]))
        try home.store(["A": "another", "B": "one more"])
        // Whatever it has at the time of the restore.
        try home.directory.write("rubbish", to: "data/zg-env/vault.zgv")
        let restored = try json(home.run(["restore", file, "--yes", "--json"]))
        #expect(restored["generation"] == 7)
        #expect(restored["anchor"] == "moved")
        #expect(try home.verdicts() == ("current", "current"))
        done(try home.run(["list", "-p", "web"], unlocked: false))
        done(try home.run(["rekey", "--yes"]))
        #expect(try home.verdicts() == ("current", "current"))
        done(
            try home.run(["passwd", "--new-passphrase-file", home.other]))
        done(try home.run(["list", "-p", "web"], unlocked: false))
        let other = try home.run(
            ["verify", "--json", "--passphrase-file", home.other], unlocked: false)
        let anchor = try JSONDocument(other.standardOutput)["checked"]?["anchor"]
        #expect(anchor?["keyring"] == "current")
        #expect(anchor?["stateDirectory"] == "current")
    }
}
