import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

/// The program's behavior with a vault changed by someone with the index key and the file.
@Suite("Attacks with the index key")
struct IndexKeyAttackTests {
    private let home: CommandHome
    /// Nothing listens there: a command that sends something ends with 7.
    private static let evil = "http://127.0.0.1:9"

    init() throws {
        home = try CommandHome()
        try home.initialise()
        try home.store(["A": "mine", "B": "other"], in: "web")
        try home.store(["A": "of api"], in: "api")
        let added = try home.run(["slot", "add", "file", home.directory.path("key")])
        #expect(added.status == 0, "\(added.error)")
        try update { transaction in
            let web = try #require(transaction.index.projects.firstIndex { $0.name == "web" })
            transaction.index.projects[web].binding = .init(
                origin: "https://api.vercel.com", accountID: "u", teamID: nil, teamSlug: nil,
                projectID: "prj_1", projectName: "web")
            let token = try Array("token".utf8).withBytes { try SecretArena().copy($0) }
            transaction.index.accounts = [
                Account(
                    name: "dev", origin: "https://api.vercel.com", userID: "u", username: "n",
                    isDefault: true, createdAt: 1, secret: token)
            ]
        }
    }

    private func opened() throws -> (vault: Vault, root: VaultKeys) {
        let vault = try Vault(opening: home.vaultPath, in: PosixFileStore(lockSeconds: 5))
        let passphrase = try Array(CommandHome.passphrase.utf8).withBytes {
            try SecretBytes(copying: $0)
        }
        return (vault, try vault.open(with: passphrase, memoryLimitBytes: nil).keys)
    }

    /// Changes the vault as its user would.
    private func update(_ change: (inout VaultTransaction) throws -> Void) throws {
        let (vault, root) = try opened()
        var seen: VaultObservation?
        try Vault.update(
            home.vaultPath, in: PosixFileStore(lockSeconds: 5), keys: root,
            vaultID: vault.header.vaultID, written: { seen = $0 }, change)
        for path in try home.anchors() {
            let line = RollbackGuard(
                vaultID: vault.header.vaultID, sighting: try #require(seen)
            ).line
            try home.directory.write(
                line, to: "state/zg-env/\(URL(fileURLWithPath: path).lastPathComponent)")
        }
    }

    /// What someone with the index key changes.
    enum Attack: String, CaseIterable {
        case value, projectNames, directory, binding, account, kind, slot, publicKey
        case setting, journal, nothing
    }

    private func forge(_ attack: Attack) throws {
        let (vault, root) = try opened()
        let bytes = try IndexKeyWriter.file(
            of: vault, keys: try root.indexTier(),
            changing: { index in
                let web = try #require(index.projects.firstIndex { $0.name == "web" })
                let api = try #require(index.projects.firstIndex { $0.name == "api" })
                let variable = try #require(index.variables.firstIndex { $0.name == "B" })
                switch attack {
                case .value:
                    // The version of another variable.
                    index.variables[variable].name = "A"
                case .projectNames:
                    (index.projects[web].name, index.projects[api].name) = ("api", "web")
                case .directory:
                    index.metadata.approve(
                        .init(
                            path: home.directory.path("work"), project: "x", organisation: "",
                            vaultProject: index.projects[web].id))
                case .binding: index.projects[web].binding?.origin = Self.evil
                case .account: index.accounts[0].origin = Self.evil
                case .kind: index.variables[variable].attributes.kind = .plain
                case .setting: index.metadata.set("schema-check", to: "off")
                case .journal:
                    index.journal.append(
                        JournalEntry(
                            id: .random(), kind: 200, createdAt: 1, payload: [1], section: nil))
                case .slot, .publicKey, .nothing: break
                }
            },
            header: { header in
                if attack == .slot { header.slots.removeLast() }
                if attack == .publicKey { header.publicKey = try IndexKeyWriter.publicKey() }
                // A new nonce, as of a write.
                if attack == .nothing { header.tableNonce = AuthenticatedCipher.randomNonce() }
            }, proof: attack == .publicKey ? .own : .kept)
        try home.directory.write(bytes, to: "data/zg-env/vault.zgv")
    }

    @Test(arguments: Attack.allCases)
    func `every command that opens what was changed is exit 8, and does nothing`(
        attack: Attack
    ) throws {
        try forge(attack)
        let before = try home.vaultBytes()
        func guards() throws -> [Data] {
            try self.home.anchors().map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        }
        let seen = try guards()
        let commands: [([String], Int32)] = [
            (["run", "-q", "-p", "web", "--", "printenv", "A"], 125), (["list", "-p", "web"], 8),
            (["export", "-p", "web"], 8), (["reveal", "A", "-p", "web"], 8), (["status"], 8),
            (["copy", "A", "-p", "web", "--to-project", "elsewhere", "--yes"], 8),
            (["set", "C", "-p", "web", "--generate", "hex:8"], 8),
            (["push", "-p", "web", "--yes"], 8),
            (["pull", "-p", "web", "--yes"], 8), (["rm", "A", "-p", "web", "--yes"], 8),
            (["rekey", "--yes"], 8), (["verify"], 8), (["unlock"], 8),
            (["diff", "--remote", "-p", "web"], 8), (["harden", "-p", "web", "--yes"], 8),
            (["backup", home.directory.path("copy.zgv")], 8), (["project", "list"], 8),
        ]
        let home = home
        let results = try LoginThread.run(.session) { try commands.map { try home.run($0.0) } }
        for (command, result) in zip(commands, results) {
            #expect(result.status == command.1, "\(command.0): \(result.error)")
            if command.0 != ["verify"] { #expect(result.output == "", "\(command.0)") }
        }
        // With the index key alone the guard says whose signature it must be. Without its slot, the
        // key file opens nothing.
        let locked = try home.run(
            ["list", "-p", "web"], unlocked: false,
            environment: ["ZG_ENV_KEY_FILE": home.directory.path("key")])
        #expect(locked.status == (attack == .slot ? 3 : 8), "\(locked.error)")
        #expect(locked.output == "")
        #expect(try home.vaultBytes() == before)
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("copy.zgv")))
        #expect(try guards() == seen)
    }

    @Test func `another vault at the path is exit 8 until it is accepted`() throws {
        let other = try CommandHome()
        try other.initialise()
        try other.store(["A": "of another vault"])
        let own = try home.vaultBytes()
        try home.directory.write(try other.vaultBytes(), to: "data/zg-env/vault.zgv")
        for command in [
            ["list", "-p", "web"], ["export", "-p", "web"], ["set", "B", "-p", "web"], ["verify"],
        ] {
            let result = try home.run(command, input: .text("mine"))
            #expect(result.status == 8, "\(command): \(result.error)")
            #expect(result.error.contains("another vault"), "\(command): \(result.error)")
        }
        #expect(try home.vaultBytes() == other.vaultBytes())
        #expect(try home.run(["verify", "--accept-older", "--yes"]).status == 0)
        #expect(try home.run(["reveal", "A", "-p", "web"]).output == "of another vault")
        // And back.
        try home.directory.write(own, to: "data/zg-env/vault.zgv")
        #expect(try home.run(["list", "-p", "web"]).status == 8)
        try FileManager.default.removeItem(atPath: home.vaultPath)
        try home.initialise()
        #expect(try home.run(["list"]).status != 8)
    }

    @Test func `an older file put there while a command waits is not written over`() throws {
        let older = try home.vaultBytes()
        try home.store(["A": "newest"])
        try home.directory.write(older, to: "older.zgv")
        let editor = try home.directory.write(
            """
            #!/bin/sh
            sed -i 's/^A=.*/A=edited/' "$1"
            cp "\(home.directory.path("older.zgv"))" "\(home.vaultPath)"
            """, to: "editor", mode: 0o700)
        var runner = home.terminalRunner(
            ["edit", "-p", "web", "--yes"], streams: true,
            script: [(.terminal("Passphrase"), .line(CommandHome.passphrase))])
        runner.environment["EDITOR"] = editor
        let result = try runner.run()
        #expect(result.end != .exited(0), "\(result.screen)")
        #expect(result.stepsDone == 1, "\(result.screen)")
        #expect(try home.vaultBytes() == older)
        #expect(try home.run(["list", "-p", "web"]).status == 8)
    }

    @Test func `a restore takes no number from a header that does not open`() throws {
        let backup = home.directory.path("backup.zgv")
        #expect(try home.run(["backup", backup]).status == 0)
        try home.rewriteHeader { header in
            for place in 40..<48 { header[place] = 0xFF }
            header[40] = 0xFE
        }
        let restored = try home.run(["restore", backup, "--yes"])
        #expect(restored.status == 0, "\(restored.error)")
        try home.store(["A": "still written"])
        #expect(try opened().vault.header.generation < 1_000)
    }

    @Test func `an earlier whole file is exit 8 with a guard, and a warning without one`() throws {
        let earlier = try home.vaultBytes()
        try home.store(["A": "newer"])
        try home.directory.write(earlier, to: "data/zg-env/vault.zgv")
        for arguments in [["list", "-p", "web"], ["export", "-p", "web"], ["verify"]] {
            #expect(try home.run(arguments).status == 8, "\(arguments)")
        }
        try home.forgetAnchors()
        #expect(try home.run(["list", "-p", "web"]).status == 0)
        #expect(try home.run(["reveal", "A", "-p", "web"]).output == "mine")
    }

    @Test func `SEC-F3: a protected token opens only for its own origin, name and vault`() throws {
        let (vault, root) = try opened()
        let arena = SecretArena()
        let token = try Array("token".utf8).withBytes { try arena.copy($0) }
        var account = Account(
            name: "dev", origin: "https://api.vercel.com", userID: "u", username: "n",
            isDefault: true, createdAt: 1, protection: .values, secret: token)
        account.secret = try root.protected(
            token, for: account, vault: vault.header.vaultID, in: arena)
        let opened = try root.token(of: account, vault: vault.header.vaultID, in: arena)
        #expect(opened.count == 5)
        var others = [account, account]
        others[0].origin = Self.evil
        others[1].name = "def"
        for other in others {
            #expect(throws: VaultError.self) {
                _ = try root.token(of: other, vault: vault.header.vaultID, in: arena)
            }
        }
        #expect(throws: VaultError.self) {
            _ = try root.token(of: account, vault: .random(), in: arena)
        }
    }
}
