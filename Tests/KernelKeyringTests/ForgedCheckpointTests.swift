import Sealing
import TestSupport
import Testing

@testable import Vault

/// The program's behavior with a vault changed by someone with the index key.
@Suite("A forged checkpoint, through the program")
struct ForgedCheckpointTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome()
        try home.initialise()
        try home.store(["A": "first", "B": "second"])
    }

    /// Changes the vault with the index key alone.
    private func tamper(_ change: (inout VaultTransaction) throws -> Void) throws {
        let store = PosixFileStore(lockSeconds: 5)
        let vault = try Vault(opening: home.vaultPath, in: store)
        let passphrase = try Array(CommandHome.passphrase.utf8).withBytes {
            try SecretBytes(copying: $0)
        }
        let keys = try vault.open(with: passphrase, memoryLimitBytes: nil).keys
        let copy = try keys.index.bytes.withBytes { try SecretBytes(copying: $0) }
        try Vault.update(
            home.vaultPath, in: store,
            keys: VaultKeys(index: IndexKey(copy, epoch: keys.index.epoch), root: nil),
            vaultID: vault.header.vaultID, change)
    }

    @Test func `every command that opens the values to write or check detects it`() throws {
        try tamper { transaction in
            let position = try #require(
                transaction.index.variables.firstIndex { $0.name == "A" })
            transaction.index.variables[position].attributes.kind = .plain
            // And makes the checkpoint agree.
            let entry = AcceptedRecord(of: transaction.index.variables[position])
            transaction.index.checkpoint.entries = transaction.index.checkpoint.entries
                .replacing([.variable(entry.id): entry.content])
        }
        let (home, before) = (home, try home.vaultBytes())
        let copy = home.directory.path("copy.zgv")
        let results = try LoginThread.run(.session) {
            try [
                ["unlock"], ["verify"], ["status"], ["rm", "A", "-p", "web", "--yes"],
                ["backup", copy], ["rekey", "--yes"], ["history", "prune", "A", "-p", "web"],
            ].map { try home.run($0) }
        }
        #expect(results.map(\.status) == [8, 8, 8, 8, 8, 8, 8], "\(results.map(\.error))")
        for result in results {
            #expect(result.error.contains("by someone who cannot open the values"))
        }
        let verified = try home.run(["verify", "--json"])
        let report = try JSONDocument(verified.standardOutput)
        #expect(report["problems"]?.elements.map { $0["where"]?.text } == ["checkpoint"])
        #expect(report["checked"]?["checkpoint"] == false)
        // A listing does not check it, and shows nothing wrong.
        #expect(try home.run(["list", "-p", "web"]).status == 0)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a removed checkpoint is damage, and hides nothing`() throws {
        try tamper { $0.index.checkpoint = .init() }
        let home = home
        let results = try LoginThread.run(.session) {
            try [["unlock", "--json"], ["verify", "--json"], ["unlock", "--accept-changes"]]
                .map { try home.run($0) }
        }
        #expect(results.map(\.status) == [8, 8, 8], "\(results.map(\.error))")
    }
}
