import Foundation
import TestSupport
import Testing

@Suite("slot")
struct SlotTests {
    @Test func `slot list shows every slot and needs no passphrase`() throws {
        let home = try CommandHome.filled()
        let slots = try home.slots()
        #expect(slots.count == 1)
        #expect(
            slots[0].names == ["id", "kind", "opens", "createdAt", "memoryBytes", "operations"])
        #expect(slots[0]["kind"] == "passphrase")
        #expect(slots[0]["opens"] == "values")
        #expect(slots[0]["memoryBytes"] == .integer(8 << 20))
        #expect(slots[0]["operations"] == 1)
        #expect(isTime(slots[0]["createdAt"]))
        let text = done(try home.run(["slot", "list"], unlocked: false)).output
        #expect(text.contains("passphrase  everything"))
        #expect(text.contains("8 MiB, 1 pass\n"))
    }

    @Test func `a second passphrase opens everything until it is removed`() throws {
        let home = try CommandHome.filled()
        let added = try json(
            home.run([
                "slot", "add", "passphrase", "--new-passphrase-file", home.other, "--kdf", "8MiB,2",
                "--json",
            ]))
        #expect(added["kind"] == "passphrase")
        #expect(added["operations"] == 2)
        try home.throwFirstProblem(with: home.other)
        try home.throwFirstProblem()
        let id = try #require(added["id"]?.text)
        failed(try home.run(["slot", "remove", id], unlocked: false), 3)
        let asked = try home.run(["slot", "remove", id])
        #expect(asked.status == 2)
        let plan = try json(home.run(["slot", "remove", id, "--dry-run", "--json"]))
        #expect(plan["id"] == .string(id))
        #expect(plan["dryRun"] == true)
        #expect(try home.slots().count == 2)
        let removed = try json(
            home.run(["slot", "remove", String(id.prefix(6)), "--yes", "--json"]))
        #expect(removed["id"] == .string(id))
        failed(try home.reveal("A", with: home.other), 3)
        try home.throwFirstProblem()
    }

    @Test func `the last slot for people stays`() throws {
        let home = try CommandHome.filled()
        let id = try home.slotIDs("passphrase")[0]
        failed(try home.run(["slot", "remove", id, "--yes"]), 5, "last")
        done(
            try home.run(["slot", "add", "file", home.directory.path("key"), "--values"]))
        failed(try home.run(["slot", "remove", id, "--yes"]), 5, "one of these must remain")
        _ = try home.addRecovery()
        done(try home.run(["slot", "remove", id, "--yes"]))
        #expect(Set(try home.slots().compactMap { $0["kind"]?.text }) == ["file", "recovery"])
    }

    @Test func `a unique prefix of an id is enough`() throws {
        let home = try CommandHome.filled()
        failed(try home.run(["slot", "remove", "zz", "--yes"]), 4, "slot list")
        for _ in 0..<15 { _ = try home.addRecovery() }
        // Of sixteen ids two start with the same digit, except once in a million runs.
        let ids = try home.slots().compactMap { $0["id"]?.text }
        let shared = try #require(
            Dictionary(grouping: ids) { $0.prefix(1) }.first { $0.value.count > 1 }?.key)
        failed(try home.run(["slot", "remove", String(shared), "--yes"]), 2, "Several")
        failed(try home.run(["slot", "add", "recovery"]), 2, "at most 16")
        failed(try home.run(["slot", "remove", "", "--yes"]), 2)
    }

    @Test func `invalid arguments are refused before any prompt`() throws {
        let home = try CommandHome.filled()
        let before = try home.vaultBytes()
        let wrong = [
            ["slot", "add", "file"], ["slot", "add", "recovery", "path"],
            ["slot", "add", "passphrase", "--values", "--new-passphrase-file", home.other],
            ["slot", "add", "recovery", "--kdf", "8MiB,1"],
            ["slot", "add", "file", "x", "--new-passphrase-file", home.other],
            ["slot", "add", "magic"],
            ["slot", "add", "passphrase"],
            [
                "slot", "add", "passphrase", "--new-passphrase-file", home.other, "--kdf", "4MiB,1",
            ],
            ["slot", "add", "passphrase", "--new-passphrase-file", "/dev/null"],
        ]
        for arguments in wrong { failed(try home.run(arguments), 2) }
        failed(try home.run(["slot", "add", "recovery"], unlocked: false), 3)
        failed(try home.run(["slot", "add", "secret-service"]), 1, "keyring")
        let plan = try json(home.run(["slot", "add", "recovery", "--dry-run", "--json"]))
        #expect(plan["dryRun"] == true)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a weak passphrase of a new slot is named as one`() throws {
        let home = try CommandHome.filled()
        let path = try home.directory.write("password1", to: "weak", mode: 0o600)
        let added = try json(
            home.run([
                "slot", "add", "passphrase", "--new-passphrase-file", path, "--kdf", "8MiB,1",
                "--json",
            ]))
        let warning = added["warnings"]?.elements.first { $0["code"] == "weak-passphrase" }
        let id = try #require(added["id"]?.text)
        let option = try #require(warning?["message"]?.text?.split(separator: "--slot ").last)
        #expect(id.hasPrefix(option))
    }

    @Test func `a vault has at most four passphrases`() throws {
        let home = try CommandHome.filled()
        for _ in 0..<3 { try home.addOther() }
        failed(
            try home.run(["slot", "add", "passphrase", "--new-passphrase-file", home.other]), 2,
            "at most 4")
        #expect(try home.slots().count == 4)
    }

    @Test func `a recovery code is printed once and opens everything`() throws {
        let home = try CommandHome.filled()
        let result = done(try home.run(["slot", "add", "recovery"]))
        #expect(result.output.wholeMatch(of: /([0-9A-Z]{4}-){6}[0-9A-Z]{4}\n/) != nil)
        #expect(result.error.contains("write it down"))
        let code = try home.directory.write(result.output.lowercased(), to: "code")
        try home.throwFirstProblem(with: code)
        let asJSON = try json(home.run(["slot", "add", "recovery", "--json"]))
        let second = try #require(asJSON["recoveryCode"]?.text)
        try home.throwFirstProblem(with: try home.directory.write(second, to: "code2"))

        let characters = Array(second)
        let slip = String(characters.dropLast()) + (characters.last == "7" ? "8" : "7")
        failed(
            try home.reveal("A", with: try home.directory.write(slip, to: "slip")), 3,
            "a typo")
        let id = try #require(asJSON["id"]?.text)
        done(try home.run(["slot", "remove", id, "--yes"]))
        failed(try home.reveal("A", with: home.directory.path("code2")), 3, "no typos")
        for text in [result.output, second] {
            let written = try home.vaultBytes()
            #expect(written.firstRange(of: Array(text.prefix(9).utf8)) == nil)
        }
    }

    @Test func `init --recovery prints a recovery code`() throws {
        let home = try CommandHome()
        let made = try json(
            home.run(["init", "--lock", "--kdf", "8MiB,1", "--recovery", "--json"]))
        let code = try home.directory.write(
            try #require(made["recoveryCode"]?.text), to: "code")
        #expect(made["warnings"]?.elements.map { $0["code"]?.text } == ["weak-kdf"])
        try home.store(["A": "value"])
        #expect(done(try home.reveal("A", with: code)).output == "value")
        let other = try CommandHome()
        let text = done(try other.run(["init", "--lock", "--kdf", "8MiB,1", "--recovery"]))
        #expect(text.output.count == 35)
    }

    @Test func `a key file opens the names, and with --values everything`() throws {
        let home = try CommandHome.filled()
        let (index, values) = (home.directory.path("index.key"), home.directory.path("values.key"))
        let added = try json(home.run(["slot", "add", "file", index, "--json"]))
        #expect(added["opens"] == "index")
        #expect(added["file"] == .string(index))
        #expect(try mode(index) == 0o600)
        done(try home.run(["slot", "add", "file", values, "--values"]))
        let list = ["list", "-p", "web", "--json"]
        #expect(try home.run(list, unlocked: false).status == 3)
        for path in [index, values] {
            _ = try json(home.run(list + ["--key-file", path], unlocked: false))
        }
        let reveal = ["reveal", "A", "-p", "web"]
        failed(try home.run(reveal + ["--key-file", index], unlocked: false), 3)
        let revealed = try home.run(
            reveal, unlocked: false, environment: ["ZG_ENV_KEY_FILE": values])
        #expect(done(revealed).output == "second")
        // A wrong passphrase stays wrong.
        failed(
            try home.run(reveal + ["--key-file", values, "--passphrase-file", home.other]), 3)
        failed(try home.run(["slot", "add", "file", index]), 5, "already exists")
    }

    @Test func `rekey keeps the keys of a file without a last line's end`() throws {
        let home = try CommandHome.filled()
        let key = home.directory.path("key")
        done(try home.run(["slot", "add", "file", key, "--values"]))
        let line = try home.directory.read("key")
        let words = String(decoding: line.dropLast(), as: UTF8.self).split(separator: " ")
        let vault = String(repeating: "a", count: words[1].count)
        let theirs = "\(words[0]) \(vault) \(words[2]) \(words[3])"
        try home.directory.write(Array(line) + Array(theirs.utf8), to: "key", mode: 0o600)
        done(try home.run(["rekey", "--key-file", key, "--yes"]))
        let lines = String(decoding: try home.directory.read("key"), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        #expect(lines.count == 3 && lines.contains(theirs) && lines.last == "", "\(lines)")
        #expect(
            try home.run(["list", "-p", "web", "--key-file", key], unlocked: false).status == 0)
    }

    @Test func `a key file that fits no slot is named, whatever opens the vault then`() throws {
        let home = try CommandHome.filled()
        let (fits, other) = (home.directory.path("fits.key"), home.directory.path("other.key"))
        let list = ["list", "-p", "web", "--key-file"]
        failed(try home.run(list + [fits], unlocked: false), 3, "no slot for a key file", fits)
        done(try home.run(["slot", "add", "file", fits]))
        done(try home.run(["slot", "add", "file", other]))
        let id = try #require(try home.slotIDs("file").last)
        done(try home.run(["slot", "remove", id, "--yes"]))
        failed(
            try home.run(list + [other], unlocked: false), 3,
            "The key file \(other) has no key that opens this vault.")
        failed(
            try home.run(list + [other, "--passphrase-file", home.other]), 3,
            "has no key that opens")
        let listed = try json(home.run(list + [other, "--json"]))
        #expect(listed["warnings"]?.elements.map { $0["code"] } == ["key-file-unused"])
        let status = try json(home.run(["status", "--key-file", other, "--json"], unlocked: false))
        #expect(status["warnings"]?.elements.map { $0["code"] } == ["key-file-unused"])
        #expect(try json(home.run(list + [fits, "--json"]))["warnings"] == nil)
    }

    @Test func `a key file that others can read, a link to one, and a changed one are refused`()
        throws
    {
        let home = try CommandHome.filled()
        let path = home.directory.path("key")
        done(try home.run(["slot", "add", "file", path]))
        let link = home.directory.path("link")
        #expect(unsafe symlink(path, link) == 0)
        let list = ["list", "-p", "web", "--key-file"]
        done(try home.run(list + [path], unlocked: false))
        failed(try home.run(list + [link], unlocked: false), 3, "symbolic link")
        failed(try home.run(list + ["/nonexistent"], unlocked: false), 3)
        failed(try home.run(list + [home.directory.path], unlocked: false), 3, "regular")
        #expect(unsafe chmod(path, 0o640) == 0)
        failed(try home.run(list + [path], unlocked: false), 3, "other users")
        #expect(unsafe chmod(path, 0o600) == 0)
        let text = String(decoding: try home.directory.read("key"), as: UTF8.self)
        try home.directory.write(text.dropLast(3) + "\n", to: "key")
        failed(try home.run(list + [path], unlocked: false), 3, "key file \(path) is damaged")
        try home.directory.write("", to: "key")
        failed(try home.run(list + [path], unlocked: false), 3)
    }

    @Test func `the keyring's slot is added and removed with its item`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome(keyring: keyring)
        done(try home.run(["init", "--lock", "--kdf", "8MiB,1", "--no-secret-service"]))
        try home.store(["A": "value"])
        let list = ["list", "-p", "web"]
        failed(try home.run(list, unlocked: false), 3)
        let added = try json(home.run(["slot", "add", "secret-service", "--json"]))
        #expect(added["opens"] == "index")
        // Its key and the rollback guard.
        #expect(try keyring.itemCount().unlocked == 2)
        done(try home.run(list, unlocked: false))
        let id = try #require(added["id"]?.text)
        done(try home.run(["slot", "remove", id, "--yes"]))
        #expect(try keyring.itemCount().unlocked == 0)
        failed(try home.run(list, unlocked: false), 3)
        // A locked keyring leaves neither slot nor item.
        try keyring.lock()
        failed(try home.run(["slot", "add", "secret-service"]), 1)
        #expect(try home.slots().count == 1)
        let items = try keyring.itemCount()
        #expect(items.unlocked + items.locked == 0)
    }
}
