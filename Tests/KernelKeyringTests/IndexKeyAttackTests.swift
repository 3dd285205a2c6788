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
    }

    private func keys() throws -> (vault: Vault, root: VaultKeys, index: VaultKeys) {
        let vault = try Vault(opening: home.vaultPath, in: PosixFileStore(lockSeconds: 5))
        let passphrase = try Array(CommandHome.passphrase.utf8).withBytes {
            try SecretBytes(copying: $0)
        }
        let keys = try vault.open(with: passphrase, memoryLimitBytes: nil).keys
        let copy = try keys.index.bytes.withBytes { try SecretBytes(copying: $0) }
        return (
            vault, keys, VaultKeys(index: IndexKey(copy, epoch: keys.index.epoch), root: nil)
        )
    }

    /// Changes the vault as its user would, with the values unlocked.
    private func update(_ change: (inout VaultTransaction) throws -> Void) throws {
        let (vault, root, _) = try keys()
        try Vault.update(
            home.vaultPath, in: PosixFileStore(lockSeconds: 5), keys: root,
            vaultID: vault.header.vaultID, change)
    }

    /// Changes the vault with the index key alone.
    private func tamper(_ change: (inout VaultTransaction) throws -> Void) throws {
        let (vault, _, index) = try keys()
        try Vault.update(
            home.vaultPath, in: PosixFileStore(lockSeconds: 5), keys: index,
            vaultID: vault.header.vaultID, change)
    }

    private func print(_ key: String, in project: String = "web", _ options: String...) throws
        -> ProgramResult
    {
        try home.run(["run", "-q", "-p", project] + options + ["--", "printenv", key])
    }

    /// The commands that output values, with their exit codes if they refuse.
    private static let exits: [([String], Int32)] = [
        (["run", "-q", "-p", "web", "--", "printenv", "A"], 125),
        (["export", "-p", "web"], 2), (["reveal", "A", "-p", "web"], 2),
        (["copy", "A", "-p", "web", "--to-project", "elsewhere"], 2),
    ]

    private func expectRefused(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try home.vaultBytes()
        for (command, exit) in Self.exits {
            let result = try home.run(command)
            #expect(
                result.status == exit, "\(command): \(result.error)", sourceLocation: sourceLocation
            )
            #expect(result.output == "", "\(command)", sourceLocation: sourceLocation)
            #expect(
                result.error.contains("while the values were locked"),
                sourceLocation: sourceLocation)
            // A yes to other questions does not answer this one.
            if command[0] != "run" { #expect(try home.run(command + ["--yes"]).status == exit) }
        }
        #expect(try home.vaultBytes() == before)
    }

    @Test func `SEC-F2: a value forged under its own number is not output without a question`()
        throws
    {
        #expect(try print("A").output == "mine\n")
        try tamper { transaction in
            let web = try #require(transaction.index.project(named: "web"))
            let position = try #require(
                transaction.index.variables.firstIndex { $0.project == web.id && $0.name == "A" })
            let id = transaction.index.variables[position].id
            let genuine = try #require(transaction.index.currentVersions[id])
            transaction.index.variables[position].highestVersion = genuine.version - 1
            _ = try Array("forged".utf8).withBytes {
                try transaction.store($0, forVariableAt: position, at: genuine.createdAt)
            }
            transaction.index.earlierVersions.removeAll { $0.id == genuine.id }
        }
        try expectRefused()
        #expect(try print("B").output == "", "the whole place is asked about")
        #expect(try print("B", in: "web", "--only", "B").output == "other\n")
        let status = try JSONDocument(home.run(["status", "--json"]).standardOutput)
        #expect(status["changedWhileLocked"]?.elements.map { $0["key"]?.text } == ["A"])
        let verified = try JSONDocument(home.run(["verify", "--json"]).standardOutput)
        #expect(verified["changedWhileLocked"]?.elements.map { $0["key"]?.text } == ["A"])
        // Confirming the change outputs it.
        #expect(try print("A", in: "web", "--accept-changes").output == "forged\n")
        #expect(try print("A").output == "forged\n")
    }

    @Test func `SEC-F7: swapped project names give no project another one's values`() throws {
        try tamper { transaction in
            let web = try #require(transaction.index.projects.firstIndex { $0.name == "web" })
            let api = try #require(transaction.index.projects.firstIndex { $0.name == "api" })
            transaction.index.projects[web].name = "api"
            transaction.index.projects[api].name = "web"
        }
        for project in ["web", "api"] {
            let result = try print("A", in: project)
            #expect(result.status == 125 && result.output == "", "\(result.error)")
        }
    }

    @Test func `SEC-F7: a directory approved by an attacker gets nothing`() throws {
        let directory = home.directory.path("clone")
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        try Data(#"{"project":"x"}"#.utf8).write(
            to: URL(fileURLWithPath: directory + "/.zg-env.json"))
        let canonical = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path
        try tamper { transaction in
            let web = try #require(transaction.index.project(named: "web"))
            transaction.index.metadata.approve(
                .init(path: canonical, project: "x", organisation: "", vaultProject: web.id))
        }
        var runner = home.runner(["run", "-q", "--", "printenv", "A"])
        runner.workingDirectory = directory
        let result = try runner.run()
        #expect(result.status == 125 && result.output == "", "\(result.error)")
        #expect(result.error.contains("approved for web"), "\(result.error)")
    }

    @Test func `SEC-F1: a binding and an account changed to another origin send nothing there`()
        throws
    {
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
        try tamper { transaction in
            let web = try #require(transaction.index.projects.firstIndex { $0.name == "web" })
            transaction.index.projects[web].binding?.origin = Self.evil
            transaction.index.accounts[0].origin = Self.evil
        }
        for command in [
            ["push", "-p", "web", "--yes"], ["diff", "--remote", "-p", "web"],
            ["harden", "-p", "web", "--yes"],
        ] {
            let result = try home.run(command)
            #expect(result.status == 2, "\(command): \(result.error)")
            #expect(result.error.contains(Self.evil), "\(command): \(result.error)")
        }
        // While the values are locked this cannot be checked: then it goes to Vercel only.
        let locked = try home.run(
            ["push", "-p", "web", "--yes"], unlocked: false,
            environment: ["ZG_ENV_KEY_FILE": home.directory.path("key")])
        #expect(locked.status == 3, "\(locked.error)")
        let unlocked = try home.run(["status"])
        #expect(
            unlocked.output.contains("https://api.vercel.com → \(Self.evil)"), "\(unlocked.output)")
    }

    @Test func `SEC-F3: a protected token opens only for its own origin, name and vault`() throws {
        let (vault, root, _) = try keys()
        let arena = SecretArena()
        let token = try Array("token".utf8).withBytes { try arena.copy($0) }
        var account = Account(
            name: "dev", origin: "https://api.vercel.com", userID: "u", username: "n",
            isDefault: true, createdAt: 1, protection: .values, secret: token)
        account.secret = try account.protected(
            token, vault: vault.header.vaultID, publicKey: vault.header.publicKey, in: arena)
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

    @Test func `SEC-F5: nothing is sealed to another public key than the known one`()
        throws
    {
        let (vault, _, index) = try keys()
        var header = vault.header
        let other = try SealedBox.KeyPair(seed: .random(count: 32))
        header.publicKey = other.publicKey
        let chunks = try vault.file.read(
            at: header.chunksOffset, count: Int(header.chunksByteCount))
        let sealed = try header.sealing(
            vault.index(with: index, extent: .everything), keys: index,
            chunksByteCount: UInt64(chunks.count))
        // As the next generation, derived from the known one.
        try home.directory.write(sealed.header + sealed.index + chunks, to: "data/zg-env/vault.zgv")
        try home.forgetAnchorsPositions(keeping: vault)
        let before = try home.vaultBytes()
        let locked = try home.run(
            ["set", "C", "-p", "web", "--raw"], input: .text("secret"), unlocked: false,
            environment: ["ZG_ENV_KEY_FILE": home.directory.path("key")])
        #expect(locked.status == 8, "\(locked.error)")
        #expect(try home.vaultBytes() == before)
        for command in [["run", "-q", "-p", "web", "--", "printenv", "A"], ["verify"], ["status"]] {
            let result = try home.run(command)
            #expect([8, 125].contains(result.status), "\(command): \(result.error)")
        }
    }
}

extension CommandHome {
    /// Makes the rollback guard accept the file's current generation, with the public key of
    /// `vault`.
    fileprivate func forgetAnchorsPositions(keeping vault: Vault) throws {
        let now = try Vault(opening: vaultPath, in: PosixFileStore(lockSeconds: 5))
        let anchor = RollbackGuard(
            vaultID: now.header.vaultID,
            sighting: VaultObservation(
                position: try now.position(), publicKey: vault.header.publicKey,
                checkpointGeneration: 1))
        for path in try anchors() {
            try Data(anchor.line).write(to: URL(fileURLWithPath: path))
        }
    }
}
