import Foundation
import Sealing
import TestSupport
import Testing

@Suite("The end of an unlock")
struct EndOfUnlockTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome()
        try home.initialise()
        try home.store(["A": "first", "B": "second"])
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
