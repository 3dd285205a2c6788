import Foundation
import Sealing
import TestSupport
import Testing

/// Reports of `unlock` on changes made while the values were locked, and the end of an unlock.
@Suite("unlock and unconfirmed changes")
struct ReviewTests {
    /// A home with a vault whose index a key file opens.
    private let home: CommandHome

    init() throws {
        home = try CommandHome()
        try home.initialise()
        try home.store(["A": "first", "B": "second"])
        let added = try home.run(["slot", "add", "file", home.directory.path("key")])
        #expect(added.status == 0, "\(added.error)")
    }

    private func setLocked(_ key: String, _ value: String) throws {
        let set = try home.run(
            ["set", key, "-p", "web", "--raw"], input: .text(value), unlocked: false,
            environment: ["ZG_ENV_KEY_FILE": home.directory.path("key")])
        #expect(set.status == 0, "\(set.error)")
    }

    private func listed(_ result: ProgramResult) throws -> [String] {
        let document = try JSONDocument(result.standardOutput)
        return (document["changedWhileLocked"]?.elements ?? []).map { change in
            "\(change["key"]?.text ?? ""): \((change["changes"]?.texts ?? []).joined(separator: ", "))"
        }
    }

    @Test func `changes stay listed until confirmed`() throws {
        try setLocked("A", "changed")
        try setLocked("NEW", "new")
        let home = home
        let results = try LoginThread.run(.session) {
            [
                try home.run(["unlock", "--json"]),
                try home.run(["unlock"]),
                try home.run(["status", "--json"], unlocked: false),
                try home.run(["unlock", "--accept-changes", "--json"]),
                try home.run(["unlock", "--json"]),
                try home.run(["status", "--json"], unlocked: false),
            ]
        }
        #expect(results.map(\.status) == [0, 0, 0, 0, 0, 0], "\(results.map(\.error))")
        let changes = ["A: version", "NEW: added"]
        for result in [results[0], results[2], results[3]] {
            #expect(try listed(result) == changes)
        }
        #expect(try JSONDocument(results[0].standardOutput)["accepted"] == false)
        #expect(results[1].error.contains("2 variables were changed while the values were locked"))
        #expect(results[1].error.contains("web: A: value changed by set, just now"))
        #expect(results[1].error.contains("web: NEW: added by set, just now"))
        #expect(results[1].error.contains("zg-env unlock --accept-changes"))
        #expect(results[1].error.contains("Unlocked for"))
        #expect(try JSONDocument(results[3].standardOutput)["accepted"] == true)
        #expect(try listed(results[4]) == [])
        #expect(try JSONDocument(results[4].standardOutput)["accepted"] == .null)
        #expect(try JSONDocument(results[5].standardOutput)["changesChecked"] == true)
        #expect(try listed(results[5]) == [])
    }

    @Test(arguments: [("y", [] as [String]), ("n", ["A: version"]), ("", ["A: version"])])
    func `on a terminal the answer decides, and the vault is unlocked either way`(
        answer: String, left: [String]
    ) throws {
        try setLocked("A", "changed")
        let home = home
        let results = try LoginThread.run(.session) {
            let runner = home.terminalRunner(
                ["unlock", "--passphrase-file", home.passphrasePath],
                script: [(.terminal("Did you make these changes? [y/N] "), .line(answer))])
            return [try runner.run(), try home.run(["status", "--json"], unlocked: false)]
        }
        #expect(results.map(\.status) == [0, 0], "\(results.map(\.error))")
        #expect(results[0].error.contains("1 variable was changed while the values were locked"))
        #expect(try JSONDocument(results[1].standardOutput)["values"] == "open")
        #expect(try listed(results[1]) == left)
    }

    @Test func `equal values are one question, and one version after it`() throws {
        for _ in 0..<3 { try setLocked("A", "first") }
        let home = home
        let results = try LoginThread.run(.session) {
            let asking = home.terminalRunner(
                ["unlock", "--passphrase-file", home.passphrasePath],
                script: [(.terminal("Did you make these changes? [y/N] "), .line("y"))])
            let silent = home.terminalRunner(
                ["unlock", "--passphrase-file", home.passphrasePath])
            return [
                try asking.run(), try silent.run(), try home.run(["verify", "--json"]),
            ]
        }
        #expect(results.map(\.status) == [0, 0, 0], "\(results.map(\.error))")
        #expect(results[0].error.contains("web: A: 3 values by set"), "\(results[0].error)")
        #expect(!results[1].error.contains("while the values were locked"))
        let verified = try JSONDocument(results[2].standardOutput)
        #expect(verified["checked"]?["versions"] == 2)
    }

    @Test func `accept-older continues with a copy that is older than the unlocked vault`() throws {
        let home = home
        let old = try home.vaultBytes()
        try home.store(["A": "newer"])
        let results = try LoginThread.run(.session) {
            let unlocked = try home.run(["unlock", "--json"])
            try home.directory.write(old, to: "data/zg-env/vault.zgv")
            // Only the unlock cache still knows it.
            try home.forgetAnchors()
            let run = ["run", "-q", "-p", "web", "--", "sh", "-c", "printf %s \"$A\""]
            return [
                unlocked, try home.run(run, unlocked: false),
                try home.run(["verify", "--accept-older", "--yes", "--json"]),
                try home.run(run, unlocked: false), try home.run(["unlock", "--json"]),
                try home.run(run, unlocked: false),
            ]
        }
        #expect(results.map(\.status) == [0, 125, 0, 125, 0, 0], "\(results.map(\.error))")
        #expect(results[1].error.contains("verify --accept-older"))
        #expect(try JSONDocument(results[2].standardOutput)["accepted"] == true)
        #expect(results[3].error.contains("The passphrase is needed"))
        #expect(results[5].output == "first")
    }

    @Test(arguments: ["rekey", "passwd", "restore"])
    func `new keys, a new passphrase and a restored backup end an unlock`(_ command: String) throws
    {
        let home = home
        try home.directory.write("another passphrase\n", to: "other")
        let backup = home.directory.path("copy.zgv")
        let arguments =
            switch command {
            case "rekey": ["rekey", "--yes"]
            case "passwd": ["passwd", "--new-passphrase-file", home.directory.path("other")]
            default: ["restore", backup, "--yes"]
            }
        let results = try LoginThread.run(.session) {
            let run = ["run", "-q", "-p", "web", "--", "true"]
            return [
                try home.run(["backup", backup]), try home.run(["unlock", "--json"]),
                try home.run(run, unlocked: false), try home.run(arguments),
                try home.run(run, unlocked: false),
                try home.run(["lock", "--json"], unlocked: false),
            ]
        }
        #expect(results.map(\.status) == [0, 0, 0, 0, 125, 0], "\(results.map(\.error))")
        #expect(results[3].error.contains("is now locked"))
        #expect(try JSONDocument(results[5].standardOutput)["wasUnlocked"] == false)
    }
}
