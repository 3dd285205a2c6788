import Foundation
import TestSupport
import Testing

@Suite("verify")
struct VerifyTests {
    @Test func `an intact vault is reported as such, with what was not verified`() throws {
        let home = try CommandHome.filled()
        let result = try json(home.run(["verify", "--json"]))
        #expect(result.names == ["ok", "problems", "checked"])
        #expect(result["ok"] == true)
        #expect(result["problems"] == [])
        let checked = try #require(result["checked"])
        #expect(checked["header"] == true)
        #expect(checked["index"] == true)
        #expect(checked["variables"] == 2)
        #expect(checked["versions"] == 3)
        #expect(checked["valuesOpened"] == true)
        #expect(checked["bytes"] == .integer(try home.vaultBytes().count))
        #expect(checked["audit"] == true)
        #expect(checked["anchor"]?["stateDirectory"] == "current")
        // No slot of this vault is in a keyring.
        #expect(checked["anchor"]?["keyring"] == "unavailable")
        let text = done(try home.run(["verify"])).output
        #expect(text.contains("Versions  3, all opened"))
        #expect(text.contains("in the keyring: cannot be checked in this session"))
    }

    @Test func `a changed value is exit 8 with its name and position`() throws {
        let home = try CommandHome.filled()
        var bytes = try home.vaultBytes()
        bytes[bytes.count - 1] ^= 1
        try home.directory.write(bytes, to: "data/zg-env/vault.zgv")
        let result = try home.run(["verify", "--json"])
        #expect(result.status == 8)
        let found = try JSONDocument(result.standardOutput)
        #expect(found["ok"] == false)
        let problem = try #require(found["problems"]?.elements.first)
        #expect(problem["where"] == "value")
        #expect(problem["key"] == "A")
        #expect(problem["version"] == 2)
        #expect(try JSONDocument(result.standardError)["error"]?["code"] == "damaged")
        let text = try home.run(["verify"])
        #expect(text.status == 8)
        #expect(text.output.contains("value: version 2 of A"))
        #expect(text.error.contains("restore FILE"))
    }

    @Test(arguments: [(20, "header"), (200, "header"), (400, "index")])
    func `damage to header and index is exit 8`(offset: Int, place: String) throws {
        let home = try CommandHome.filled()
        var bytes = try home.vaultBytes()
        bytes[offset] ^= 1
        try home.directory.write(bytes, to: "data/zg-env/vault.zgv")
        let result = try home.run(["verify", "--json"])
        #expect(result.status == 8)
        let found = try JSONDocument(result.standardOutput)
        #expect(found["problems"]?.elements.map { $0["where"]?.text } == [place])
        // A damaged header is found without a key.
        if place == "header" {
            #expect(try home.run(["verify"], unlocked: false).status == 8)
        }
    }

    @Test func `without a key, with a wrong one, and without a vault nothing is called intact`()
        throws
    {
        let home = try CommandHome.filled()
        failed(try home.run(["verify"], unlocked: false), 3)
        failed(try home.run(["verify", "--passphrase-file", home.other]), 3)
        failed(try CommandHome().run(["verify"]), 4)
    }

    @Test func `the key in the keyring is not enough`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        failed(try home.run(["verify"], unlocked: false), 3)
        let result = try json(home.run(["verify", "--json"]))
        #expect(result["checked"]?["versions"] == 3)
        #expect(result["checked"]?["valuesOpened"] == true)
        withExtendedLifetime(keyring) {}
    }

    @Test func `READER-6: status and verify count alike, without removed variables`() throws {
        let home = try CommandHome.filled()
        func counts(_ document: JSONDocument?) -> [JSONDocument?] {
            [document?["variables"], document?["removedVariables"]]
        }
        for (removed, text) in [(0, "2"), (1, "1, and 1 removed")] {
            let status = try json(home.run(["status", "--json"]))
            #expect(counts(status) == [.integer(2 - removed), .integer(removed)])
            let verified = try json(home.run(["verify", "--json"]))
            #expect(counts(verified["checked"]) == counts(status))
            let line = removed == 0 ? "" : ", and 1 removed"
            #expect(
                try home.run(["status"]).output.contains(
                    "Contents  \(removed == 0 ? "2 variables" : "1 variable") in 1 project\(line)\n"
                ))
            #expect(try home.run(["verify"]).output.contains("Variables \(text)\n"))
            if removed == 0 { done(try home.run(["rm", "B", "-p", "web", "--yes"])) }
        }
    }

    @Test func `READER-6: an older copy and a broken log are among the problems`() throws {
        let home = try CommandHome.filled()
        func problems() throws -> [JSONDocument] {
            let result = try home.run(["verify", "--json"])
            #expect(result.status == 8)
            let found = try JSONDocument(result.standardOutput)
            #expect(found["ok"] == false)
            return found["problems"]?.elements ?? []
        }
        let old = try home.vaultBytes()
        done(try home.run(["reveal", "A", "-p", "web"]))
        try home.store(["A": "third"])
        let new = try home.vaultBytes()
        try home.replaceVault(by: old)
        let older = try problems()
        #expect(older.map { $0["where"] } == ["anchor"])
        #expect(older.first?["message"]?.text?.contains("older copy") == true)
        #expect(
            older.first?.names == ["where", "class", "message", "key", "version", "offset"])
        try home.replaceVault(by: new)
        let state = home.directory.path("state/zg-env")
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: state).first {
                $0.hasSuffix(".log")
            })
        #expect(unsafe chmod("\(state)/\(name)", 0o644) == 0)
        // Not damaged, but not trustworthy.
        let open = try home.run(["verify", "--json"])
        #expect(open.status == 1)
        let found = try JSONDocument(open.standardOutput)["problems"]?.elements
        #expect(found?.map { $0["where"]?.text } == ["audit-log"])
        #expect(found?.first?["message"]?.text?.contains("can be opened by other users") == true)
        let text = try home.run(["verify"])
        #expect(text.status == 1)
        #expect(text.error.contains("chmod 600 \(state)/\(name)"))
        #expect(text.output.contains("Audit log cannot be used"))
        #expect(unsafe chmod("\(state)/\(name)", 0o600) == 0)
        try home.directory.write("rubbish\nmore\n", to: "state/zg-env/\(name)")
        let broken = try problems()
        #expect(Set(broken.map { $0["where"]?.text }) == ["audit-log"])
        // Two lines that are none, and the last one that the vault knows.
        #expect(broken.count == 3)
        #expect(broken.allSatisfy { $0["message"]?.text?.contains("line") == true })
    }
}
