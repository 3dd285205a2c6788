import Foundation
import Glibc
import TestSupport
import Testing

/// What a real keyring knows of older copies of the vault.
@Suite("The rollback anchor in a keyring")
struct KeyringAnchorTests {
    @Test func `the keyring finds an older copy where the state directory is gone`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        #expect(try keyring.itemCount() == (2, 0))
        let old = try home.vaultBytes()
        done(try home.run(["set", "A", "-p", "web"], input: .text("third"), unlocked: false))
        #expect(try home.verdicts(unlocked: false) == ("current", "current"))
        try home.replaceVault(by: old)
        try home.forgetAnchors()
        failed(try home.run(["list", "-p", "web"], unlocked: false), 8, "older copy")
        #expect(try home.verdicts() == ("older", "absent"))
        // By passphrase too, for whoever reads and whoever writes.
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
        // Nor does it help to put something else in the place of the file.
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
        #expect(try home.verdicts(unlocked: false) == ("current", "current"))
        done(try home.run(["list", "-p", "web"], unlocked: false))
    }

    @Test func `what the keyring knows is noted in an emptied state directory again`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        try home.forgetAnchors()
        done(try home.run(["run", "-p", "web", "--", "true"]))
        #expect(try home.verdicts(environment: ["DBUS_SESSION_BUS_ADDRESS": ""]).1 == "current")
        // A locked one is no obstacle, and is not asked to open.
        try home.forgetAnchors()
        try keyring.lock()
        done(try home.run(["reveal", "A", "-p", "web"]))
        #expect(try home.anchors() == [])
    }

    @Test func `the keyring has an anchor as soon as it has a slot`() throws {
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

    @Test func `writes without the desktop are taken over when it is there again`() throws {
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

    @Test func `a locked keyring is not asked to open for an anchor`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        try keyring.lock()
        let start = ContinuousClock.now
        let set = try json(home.run(["set", "A", "-p", "web", "--json"], input: .text("third")))
        #expect(set["warnings"] == nil)
        // A question would wait for five seconds.
        #expect(ContinuousClock.now - start < .seconds(4))
        #expect(try home.verdicts() == ("unavailable", "current"))
    }

    @Test func `an item that somebody overwrote speaks against nothing and is replaced`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        try keyring.overwriteItems(with: Array("something else".utf8))
        #expect(try home.verdicts() == ("unreadable", "current"))
        done(try home.run(["set", "A", "-p", "web"], input: .text("third")))
        #expect(try home.verdicts() == ("current", "current"))
    }

    @Test func `restore, rekey and passwd go on from what was seen`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        let file = home.directory.path("copy.zgv")
        done(try home.run(["backup", file]))
        try home.store(["A": "third", "B": "other"])
        // Whatever is there when it is restored.
        try home.directory.write("rubbish", to: "data/zg-env/vault.zgv")
        let restored = try json(home.run(["restore", file, "--yes", "--json"]))
        #expect(restored["generation"] == 8)
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
