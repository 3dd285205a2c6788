import Foundation
import Sealing
import SecretServiceKeyring
import TestSupport
import Testing
import Vault

/// The format's vectors, read by the program: class and exit code of `verify --json`.
@Suite("Verifying the format's vectors")
struct VectorCommandTests {
    private static var directory: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Vectors")
    }

    private static func vectors() throws -> [JSONDocument] {
        let file = directory.appendingPathComponent("vectors.json")
        return try JSONDocument([UInt8](Data(contentsOf: file))).elements
    }

    /// Stores a slot key in the keyring like the vault's own items.
    private func keep(_ digits: String, slot: String, of vault: String, in keyring: PrivateKeyring)
        throws
    {
        let bytes = stride(from: 0, to: digits.count, by: 2).map { place in
            UInt8(digits.dropFirst(place).prefix(2), radix: 16) ?? 0
        }
        let key = try bytes.withBytes { try SecretBytes(copying: $0) }
        try SecretServiceKeyring(busAddress: keyring.bus.address, limit: .seconds(20)).store(
            key, for: KeyringItem(vault: vault, purpose: .slotKey, identifier: slot))
    }

    @Test func `verify reports each vector's class and exit code`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome(keyring: keyring)
        var random = ProofRandom(6)
        // Each takes a process of its own; VaultTests reads all of them in process every time.
        let all = try Self.vectors()
        for vector in Proof.sample(all, short: 60, using: &random) {
            let file = try #require(vector["file"]?.text)
            let bytes = [UInt8](
                try Data(contentsOf: Self.directory.appendingPathComponent(file)))
            let path = try home.directory.write(bytes, to: "work/vector.zgv")
            let secret = vector["secret"]
            var options = ["--vault", path, "--audit-log", home.directory.path("log-\(file)")]
            if let text = secret?["passphrase"]?.text ?? secret?["recoveryCode"]?.text {
                try home.directory.write(text + "\n", to: "secret")
                options += ["--passphrase-file", home.directory.path("secret")]
            } else if let text = secret?["keyFile"]?.text {
                try home.directory.write(text, to: "key")
                options += ["--key-file", home.directory.path("key")]
            } else if let key = secret?["slotKey"]?.text, let slot = secret?["slot"]?.text {
                // Bytes 24 to 39 of every file; a changed id would belong to another vault.
                let vault = bytes[24..<40].map { String(format: "%02x", $0) }.joined()
                try keep(key, slot: slot, of: vault, in: keyring)
            }
            var result = try home.run(["verify", "--json"] + options, unlocked: false)
            if result.status == 3, vector["exit"] != 3 {
                // The secret opens names alone, so a chunk is not read.
                if vector["class"] == "chunk" { continue }
                result = try home.run(["status", "--json"] + options, unlocked: false)
                #expect(
                    result.status.map { JSONDocument.integer(Int($0)) } == vector["exit"],
                    "\(file): \(result.end), \(result.error)")
                continue
            }
            // The log that this vault refers to is missing, which is another finding.
            let exit: JSONDocument? = file == "ok-audit.zgv" ? 8 : vector["exit"]
            #expect(
                result.status.map { JSONDocument.integer(Int($0)) } == exit,
                "\(file): \(result.end), \(result.error)")
            guard let kind = vector["class"]?.text,
                !["newer", "pre-release", "locked"].contains(kind)
            else {
                let error = try JSONDocument(result.standardError)["error"]
                #expect(
                    error?["code"] == (vector["class"] == "locked" ? "locked" : "failed"),
                    "\(file)")
                continue
            }
            let problems = try JSONDocument(result.standardOutput)["problems"]?.elements
            if kind == "ok" {
                let places = file == "ok-audit.zgv" ? ["audit-log"] : []
                #expect(problems?.map { $0["where"]?.text } == places, "\(file)")
            } else {
                #expect(problems?.first?["class"]?.text == kind, "\(file): \(result.output)")
            }
        }
    }

    @Test func `every command refuses a pre-release vault, with a hint`() throws {
        let home = try CommandHome()
        try home.initialise()
        try home.store(["A": "first"])
        try home.rewriteHeader { $0[8] = 2 }
        let before = try home.vaultBytes()
        for command in [
            ["status"], ["list"], ["verify"], ["set", "A", "-p", "web"],
            ["reveal", "A", "-p", "web"],
            ["run", "-p", "web", "--", "true"], ["push"], ["rekey", "--yes"],
            ["backup", home.directory.path("copy.zgv")],
        ] {
            let result = try home.run(command)
            failed(
                result, command[0] == "run" ? 125 : 1,
                "\(home.vaultPath) was created by a pre-release of zg-env",
                "zg-env export for each project", "zg-env init", "zg-env import")
        }
        #expect(try home.vaultBytes() == before)
    }
}
