import Foundation
import TestSupport
import Testing

/// Against a real keyring on a private bus.
@Suite("With a desktop keyring")
struct KeyringTests {
    private let keyring: PrivateKeyring
    private let home: CommandHome

    init() throws {
        keyring = try PrivateKeyring()
        home = try CommandHome(keyring: keyring)
    }

    /// A vault whose index opens with the keyring, with `KEY` in the project `web`.
    private func prepare() throws {
        let made = try json(home.run(["init", "--lock", "--kdf", "8MiB,1", "--json"]))
        #expect(made["secretService"]?.text?.isEmpty == false)
        try home.store(["KEY": "value"])
        done(try home.run(["reveal", "KEY", "-p", "web"]))
    }

    @Test func `init names the service and can do without it`() throws {
        let text = done(try home.run(["init", "--lock", "--kdf", "8MiB,1"]))
        #expect(text.error.contains("Stored a key for names and tokens in"))
        // The slot key and the rollback guard.
        #expect(try keyring.itemCount() == (2, 0))
        let status = try json(home.run(["status", "--json"], unlocked: false))
        #expect(status["index"] == "open")
        #expect(status["slots"]?.elements.map { $0["kind"] } == ["passphrase", "secret-service"])
        #expect(status["slots"]?.elements.map { $0["opens"] } == ["values", "index"])

        let other = try CommandHome(keyring: keyring)
        let made = try json(
            other.run(["init", "--lock", "--kdf", "8MiB,1", "--no-secret-service", "--json"]))
        #expect(made["secretService"] == .null)
        // The slot key and the rollback guard.
        #expect(try keyring.itemCount() == (2, 0))
    }

    @Test func `a command that writes asks once, and never while unlocked`() throws {
        try prepare()
        done(try home.run(["link", "--local", "web"]))
        func asked(
            _ arguments: [String], _ answers: [(String, String)] = []
        ) throws -> Int {
            let result = try home.terminalRunner(
                arguments, streams: true,
                script: answers.map { (.terminal($0.0), .line($0.1)) }
                    + [(.terminal("Passphrase"), .line(CommandHome.passphrase))]
            ).run()
            #expect(result.end == .exited(0), "\(arguments): \(result.screen)")
            return result.screen.components(separatedBy: "Passphrase").count - 1
        }
        try home.directory.write("KEY=value\n", to: "work/.env")
        let commands: [[String]] = [
            ["import", ".env", "-p", "web", "--yes"],
            ["set", "NEW", "-p", "web", "--generate", "hex:8"],
            ["rename", "NEW", "OTHER", "-p", "web"], ["rm", "OTHER", "-p", "web", "--yes"],
            ["project", "rename", "web", "site"], ["project", "rename", "site", "web"],
            ["link", "--local", "web"],
        ]
        for command in commands { #expect(try asked(command) == 1, "\(command)") }
        let owner = home
        let results = try LoginThread.run(.session) {
            try [["unlock"]].map { try owner.run($0) }
                + commands.map { try owner.run($0, unlocked: false) }
        }
        for result in results { done(result) }
    }

    @Test func `names are read without a passphrase, and nothing is written`() throws {
        try prepare()
        done(try home.run(["link", "--local", "web"]))
        let list = try json(home.run(["list", "-p", "web", "--json"], unlocked: false))
        #expect(list["variables"]?.elements.map { $0["key"] } == ["KEY"])
        done(try home.run(["show", "KEY", "-p", "web"], unlocked: false))
        let before = try home.vaultBytes()
        for arguments in [
            ["set", "KEY", "-p", "web"], ["import", "-", "-p", "web"],
            ["rm", "KEY", "-p", "web", "--yes"], ["rename", "KEY", "NEW", "-p", "web"],
            ["project", "rename", "web", "site"], ["project", "remove", "web", "--yes"],
            ["history", "prune", "KEY", "-p", "web", "--yes"], ["link", "--local", "other"],
            ["set", "KEY", "-p", "web", "--rotate-every", "90d"], ["verify"],
        ] {
            let message = try failedAsJSON(
                home.run(arguments + ["--json"], input: .text("KEY=second"), unlocked: false), 3,
                "locked")
            #expect(message.contains("zg-env unlock"), "\(arguments): \(message)")
        }
        #expect(try home.vaultBytes() == before)
        // A plan needs only the names, and says what it could not compare.
        let planned = done(
            try home.run(
                ["import", "-", "-p", "web", "--dry-run"], input: .text("KEY=third\n"),
                unlocked: false))
        #expect(planned.error.contains("were not compared"), "\(planned.error)")
        #expect(try home.vaultBytes() == before)
    }

    @Test(
        "VAL-F17: a write with a given passphrase needs no confirmation afterwards",
        arguments: [
            ["set", "KEY", "-p", "web", "--generate", "hex:8"],
            ["rm", "OTHER", "-p", "web", "--yes"],
            ["rename", "OTHER", "NEW", "-p", "web"], ["link", "--local", "web"],
        ])
    func given(write: [String]) throws {
        done(try home.run(["init", "--lock", "--kdf", "8MiB,1"]))
        try home.store(["KEY": "value", "OTHER": "other"])
        done(try home.run(write))
        let names = write[0] == "link" ? [] : ["-p", "web"]
        let result = done(try home.run(["run", "-q"] + names + ["--", "printenv", "KEY"]))
        #expect(write[0] == "set" || result.output == "value\n")
    }

    @Test(arguments: [
        "rm NOPE -p web --yes", "rm KEY -p nope --yes", "rename NOPE OTHER -p web",
        "rename KEY OTHER -p nope", "history prune NOPE -p web --yes", "project remove nope --yes",
        "project rename nope other", "account use nope",
    ])
    func `what the names tell to be wrong is refused before the passphrase is asked`(
        line: String
    ) throws {
        try prepare()
        // Without a terminal a question would be exit code 3.
        failed(try home.run(line.split(separator: " ").map(String.init), unlocked: false), 4)
    }

    @Test func `values stay locked without a passphrase`() throws {
        try prepare()
        let reveal = ["reveal", "KEY", "-p", "web"]
        failed(try home.run(reveal, unlocked: false), 3, "--passphrase-file")
        try failedAsJSON(home.run(reveal + ["--json"], unlocked: false), 3, "locked")
        let export = ["export", "-p", "web", "-t", "production"]
        failed(try home.run(export, unlocked: false), 3, "--passphrase-file")
        try failedAsJSON(home.run(export + ["--json"], unlocked: false), 3, "locked")
        let run = ["run", "-p", "web", "-t", "production"]
        failed(try home.run(run + ["--", "true"], unlocked: false), 125, "--passphrase-file")
        try failedAsJSON(
            home.run(run + ["--json", "--", "true"], unlocked: false), 125, "locked")
    }

    /// What keeps a program from the slot key.
    enum Obstacle: String, CaseIterable {
        case locked, cold, stopped, withoutItem, overwritten, deadBus, withoutBus
    }

    private func put(_ obstacle: Obstacle) throws -> [String: String] {
        switch obstacle {
        case .locked: try keyring.lock()
        case .cold: try keyring.restart(unlocked: false)
        case .stopped: keyring.stop()
        case .withoutItem: try keyring.deleteItems()
        case .overwritten: try keyring.overwriteItems(with: Array("something else".utf8))
        case .deadBus: return ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
        case .withoutBus: return ["DBUS_SESSION_BUS_ADDRESS": ""]
        }
        return [:]
    }

    @Test(arguments: Obstacle.allCases)
    func `a failing keyring is named, and the passphrase works`(
        obstacle: Obstacle
    ) throws {
        try prepare()
        let extra = try put(obstacle)
        let before = try home.vaultBytes()
        for arguments in [["list", "-p", "web"], ["show", "KEY", "-p", "web"]] {
            let result = try home.run(arguments, unlocked: false, environment: extra)
            failed(result, 3, "--passphrase-file")
            #expect(result.error.contains("keyring could not open the vault: "), "\(result.error)")
            let text = try failedAsJSON(
                home.run(arguments + ["--json"], unlocked: false, environment: extra), 3, "locked")
            #expect(text.contains("keyring could not open the vault: "), "\(text)")
        }
        #expect(try home.vaultBytes() == before)
        done(try home.run(["list", "-p", "web"], environment: extra))
        done(try home.run(["set", "KEY", "-p", "web"], input: .text("new"), environment: extra))
        done(
            try home.run(
                ["import", "-", "-p", "web"], input: .text("NEW=1"), environment: extra))
        let revealed = done(try home.run(["reveal", "KEY", "-p", "web"], environment: extra))
        #expect(revealed.output == "new")
        done(try home.run(["rm", "KEY", "-p", "web", "--yes"], environment: extra))
        // `status` without a keyring problem does not fail.
        let status = try json(home.run(["status", "--json"], unlocked: false, environment: extra))
        #expect(status["index"] == "locked")
    }

    @Test func `init without a usable keyring creates the vault and says so`() throws {
        try keyring.lock()
        let made = try json(home.run(["init", "--lock", "--kdf", "8MiB,1", "--json"]))
        #expect(made["secretService"] == .null)
        let codes = made["warnings"]?.elements.map { $0["code"]?.text }
        #expect(codes == ["weak-kdf", "no-keyring"])
        let status = try json(home.run(["status", "--json"]))
        #expect(status["slots"]?.elements.map { $0["kind"] } == ["passphrase"])
    }

    @Test func `a wrong passphrase is refused even when the keyring opens the index`() throws {
        try prepare()
        let wrong = try home.directory.write("wrong", to: "wrong")
        let before = try home.vaultBytes()
        for arguments in [
            ["reveal", "KEY", "-p", "web"], ["export", "-p", "web", "-t", "preview"],
            ["import", "-", "-p", "web"],
        ] {
            failed(
                try home.run(
                    arguments + ["--passphrase-file", wrong], input: .text("A=1"),
                    unlocked: false), 3, "passphrase")
        }
        #expect(try home.vaultBytes() == before)
    }

    @Test func `SEC-F17: planted items do not keep the keyring from opening the names`() throws {
        try prepare()
        let vault = try home.vaultBytes()[24..<40].map { String(format: "%02x", $0) }.joined()
        let slot = try #require(try home.slotIDs("secret-service").first)
        let anchor = try #require(try home.anchors().first)
        for (purpose, identifier) in [
            ("slot-key", slot),
            ("anchor", String(anchor.split(separator: "-").last?.prefix(32) ?? "")),
        ] {
            for text in [String(repeating: "A", count: 43) + "=", "AAAA", "no key"] {
                try keyring.plant(
                    text,
                    attributes: [
                        "application": "zg-env", "vault": vault, "purpose": purpose,
                        "identifier": identifier,
                    ])
            }
        }
        #expect(try keyring.itemCount().unlocked == 8)
        let list = try json(home.run(["list", "-p", "web", "--json"], unlocked: false))
        #expect(list["variables"]?.elements.map { $0["key"] } == ["KEY"])
        // Ours is one of the rollback guards, and counts.
        #expect(try home.verdicts().keyring == "current")
        let found = try JSONDocument(
            home.run(["doctor", "--offline", "--json"], unlocked: false).standardOutput)
        let check = found["findings"]?.elements.first { $0["check"] == "keyring-slot" }
        #expect(check?["state"] == "ok")
    }
}
