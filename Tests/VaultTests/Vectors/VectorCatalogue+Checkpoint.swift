import Sealing

@testable import Vault

/// Checkpoints, whole and not.
extension VectorCatalogue {
    mutating func addCheckpoints() throws {
        typealias Maker = (VaultHeader, borrowing SecretBytes) throws -> Checkpoint
        let entries = Checkpoint.sample.entries
        let small = try VectorVault.small()
        let whole: Maker = { header, key in
            try Checkpoint.made(of: entries, under: header, key: key)
        }
        func with(_ make: @escaping Maker) -> (inout VectorVault) throws -> Void {
            { $0.checkpoint = make }
        }
        try add(
            "ok", "checkpoint", "a checkpoint of records that are others now", small,
            change: with(whole))
        try add(
            "ok", "checkpoint-empty", "a checkpoint without entries", small,
            change: with { try Checkpoint.made(of: [], under: $0, key: $1) })
        try add(
            "ok", "checkpoint-earlier", "the checkpoint of an earlier generation", small,
            change: with { header, key in
                var header = header
                header.generation = 1
                return try Checkpoint.made(of: entries, under: header, key: key)
            })
        /// Made for a header that is not the file's.
        func otherwise(
            _ name: String, _ description: String, _ change: @escaping (inout VaultHeader) -> Void
        ) throws {
            try add(
                "checkpoint", name, description, small,
                change: with { header, key in
                    var header = header
                    change(&header)
                    return try Checkpoint.made(of: entries, under: header, key: key)
                })
        }
        try otherwise("vault", "made for another vault") {
            $0.vaultID = VectorVault.identifier(0x71)
        }
        try otherwise("epoch", "made for another epoch") { $0.indexEpoch += 1 }
        try otherwise("public-key", "made for another public key") { $0.publicKey[31] ^= 1 }
        try otherwise("slots", "made before a slot was taken out") { header in
            header.slots.append(header.slots[0])
        }
        try otherwise("slots-none", "made before there was a slot") { $0.slots = [] }
        try otherwise("generation-zero", "a right code for generation 0") { $0.generation = 0 }
        try otherwise("generation-later", "a right code for a generation to come") {
            $0.generation += 1
        }
        try add(
            "checkpoint", "code", "one bit of the code", small,
            change: with { header, key in
                let made = try whole(header, key)
                var code = made.authenticationCode
                code[0] ^= 1
                return Checkpoint(
                    generation: made.generation, authenticationCode: code, entries: made.entries)
            })
        try add(
            "checkpoint", "entry", "an entry changed behind the code", small,
            change: with { header, key in
                let made = try whole(header, key)
                var entries = made.entries
                entries[0].currentVersion += 1
                return Checkpoint(
                    generation: made.generation, authenticationCode: made.authenticationCode,
                    entries: entries)
            })
        try add(
            "checkpoint", "root", "a code under the key of another root", small,
            change: with { header, _ in
                let other = RootKey(try VectorVault.secret([UInt8](repeating: 9, count: 32)))
                return try Checkpoint.made(
                    of: entries, under: header, key: try other.checkpointKey())
            })
        // A wrong checkpoint comes before a batch that does not open.
        try add(
            "checkpoint", "before-batch", "a wrong code, and a data key of somebody else", small,
            change: { vault in
                vault.checkpoint = { header, _ in
                    Checkpoint(
                        generation: header.generation,
                        authenticationCode: [UInt8](repeating: 0, count: 32), entries: [])
                }
                try vault.addBatch(.settled, 9, underRoot: [UInt8](repeating: 9, count: 32))
            })
    }
}

extension Checkpoint {
    /// Two records; the code is of nobody's root.
    static let sample = Checkpoint(
        generation: 7, authenticationCode: [UInt8](repeating: 0xCC, count: 32),
        entries: [first, second])

    private static var first: Entry {
        var variable = Variable(
            id: VectorVault.records[0], project: VectorVault.web, name: "KEY",
            attributes: VariableAttributes(
                kind: .sensitive,
                scope: Scope(targets: .preview, customEnvironments: ["env-a"], branch: "main")),
            createdAt: 0)
        variable.currentVersion = 4
        var entry = Entry(of: variable)
        (entry.remoteID, entry.account) = ("env_9", "user_9")
        return entry
    }

    private static var second: Entry {
        var variable = Variable(
            id: VectorVault.records[1], project: VectorVault.api, name: "SECOND",
            attributes: VariableAttributes(kind: .plain, scope: Scope(targets: .all)), createdAt: 0)
        variable.currentVersion = 2
        return Entry(of: variable)
    }
}
