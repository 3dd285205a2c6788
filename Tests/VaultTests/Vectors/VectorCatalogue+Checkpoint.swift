import Sealing

@testable import Vault

/// Valid and invalid checkpoints.
extension VectorCatalogue {
    private typealias Maker =
        (VaultHeader, borrowing SecretBytes, CheckpointEntries) throws -> Checkpoint

    mutating func addCheckpoints() throws {
        let small = try VectorVault.small()
        let rich = try VectorVault.rich().entries()
        func with(_ make: @escaping Maker) -> (inout VectorVault) throws -> Void {
            { $0.checkpoint = make }
        }
        try add(
            "ok", "checkpoint-others", "a checkpoint of objects that are others now or gone", small,
            change: with { header, key, _ in Checkpoint(of: rich, under: header, key: key) })
        try add(
            "ok", "checkpoint-empty", "a checkpoint without entries", small,
            change: with { header, key, _ in Checkpoint(of: .init(), under: header, key: key) })
        try add(
            "ok", "checkpoint-earlier", "the checkpoint of an earlier generation", small,
            change: with { header, key, entries in
                var header = header
                header.generation = 1
                return Checkpoint(of: entries, under: header, key: key)
            })
        /// Made for the header of another file.
        func otherwise(
            _ name: String, _ description: String, _ change: @escaping (inout VaultHeader) -> Void
        ) throws {
            try add(
                "checkpoint", name, description, small,
                change: with { header, key, entries in
                    var header = header
                    change(&header)
                    return Checkpoint(of: entries, under: header, key: key)
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
        /// Changed after it was made.
        func changed(
            _ name: String, _ description: String, _ change: @escaping (Checkpoint) -> Checkpoint
        ) throws {
            try add(
                "checkpoint", name, description, small,
                change: with { header, key, entries in
                    change(Checkpoint(of: entries, under: header, key: key))
                })
        }
        try changed("code", "one bit of the code") { made in
            var tag = made.tag
            tag[0] ^= 1
            return Checkpoint(
                generation: made.generation, nonce: made.nonce, tag: tag, entries: made.entries)
        }
        try changed("nonce", "one bit of the nonce") { made in
            var nonce = made.nonce
            nonce[23] ^= 0x80
            return Checkpoint(
                generation: made.generation, nonce: nonce, tag: made.tag, entries: made.entries)
        }
        try changed("entry", "entries of somebody else behind the code") { made in
            Checkpoint(
                generation: made.generation, nonce: made.nonce, tag: made.tag, entries: rich)
        }
        try changed("entries-none", "entries taken out behind the code") { made in
            Checkpoint(
                generation: made.generation, nonce: made.nonce, tag: made.tag, entries: .init())
        }
        try changed("generation", "another generation behind the code") { made in
            Checkpoint(generation: 3, nonce: made.nonce, tag: made.tag, entries: made.entries)
        }
        try add(
            "checkpoint", "root", "a code under the key of another root", small,
            change: with { header, _, entries in
                let other = RootKey(try VectorVault.secret([UInt8](repeating: 9, count: 32)))
                return Checkpoint(of: entries, under: header, key: try other.checkpointKey())
            })
        // A wrong checkpoint is reported before a batch that does not open.
        try add(
            "checkpoint", "before-batch", "a wrong code, and a data key of somebody else", small,
            change: { vault in
                vault.checkpoint = { _, _, _ in Checkpoint() }
                try vault.addBatch(.root, 9, underRoot: [UInt8](repeating: 9, count: 32))
            })
        try addUnaccepted(small)
    }

    /// Unaccepted changes are not damage.
    private mutating func addUnaccepted(_ small: VectorVault) throws {
        let entries = small.entries()
        func before(_ vault: inout VectorVault) {
            vault.checkpoint = { header, key, _ in Checkpoint(of: entries, under: header, key: key)
            }
        }
        let rows: [(String, String, (inout VectorVault) throws -> Void)] = [
            (
                "project", "another name of a project than the checkpoint's",
                { vault in
                    vault.index.projects[0].name = "other"
                    vault.values[0].project = "other"
                }
            ),
            ("highest", "a higher highest number", { $0.index.variables[0].highestVersion = 9 }),
            (
                "record", "a record that is not in the checkpoint",
                { $0.addRecord("NEW", VectorVault.records[1]) }
            ),
            (
                "version", "a sealed version behind the checkpoint's",
                { vault in
                    let batch = try vault.addBatch(.sealed, 2)
                    vault.values[0].current = false
                    vault.index.earlierVersions = vault.index.currentVersions.values
                    try vault.store(
                        Array("locked".utf8), in: VectorVault.records[0], batch: batch,
                        .init(version: 2))
                }
            ),
            (
                "root-version", "a version under the root that the checkpoint does not name",
                { vault in
                    try vault.store(
                        Array("replayed".utf8), in: VectorVault.records[0],
                        batch: vault.index.batches[0].id, .init(version: 2, isCurrent: false))
                }
            ),
        ]
        for (name, description, change) in rows {
            try add("ok", "unaccepted-\(name)", description, small) { vault in
                before(&vault)
                try change(&vault)
            }
        }
    }

    // MARK: Entries

    private static let section = 9

    /// Changes to the checkpoint's section, which is decoded before its code is checked.
    private mutating func add(
        _ kind: String, _ name: String, _ description: String,
        _ change: @escaping (inout [UInt8]) throws -> Void
    ) throws {
        try add(kind, "entry-\(name)", description, try .rich()) {
            $0.changeSections = { try change(&$0[Self.section]) }
        }
    }

    private static func replacing(
        _ old: [UInt8], _ new: [UInt8]
    ) -> (inout [UInt8]) throws -> Void { { try $0.change(old, to: new) } }

    mutating func addEntries() throws {
        try addEntryShapes()
        // Texts change to others of equal length, so the lengths of entries stay right.
        let rows: [(String, String, String, [UInt8], [UInt8])] = [
            (
                "encoding", "project-name", "a project without a name", text("api"),
                text("") + [0, 0, 0]
            ),
            (
                "encoding", "record-name", "a record without a name", text("SECOND"),
                text("") + [0, 0, 0, 0, 0, 0]
            ),
            (
                "encoding", "type", "a record of type 9", [1, 3] + text("KEY"),
                [1, 9] + text("KEY")
            ),
            (
                "encoding", "in-use", "a flag that is none", [1, 1] + text("SECOND"),
                [4, 1] + text("SECOND")
            ),
            (
                "encoding", "targets", "a target that is none", text("SECOND") + [7],
                text("SECOND") + [15]
            ),
            (
                "encoding", "remote", "a remote's flag that is none", [1] + text("env_1"),
                [2] + text("env_1")
            ),
            (
                "encoding", "binding", "a binding's flag that is none",
                [1] + text("https://api.example.com") + text("user_1") + [1] + text("team_1"),
                [3] + text("https://api.example.com") + text("user_1") + [1] + text("team_1")
            ),
            (
                "encoding", "team", "a team's flag that is none", [1] + text("team_2"),
                [2] + text("team_2")
            ),
            (
                "encoding", "utf8", "a name that is not UTF-8", Array("SECOND".utf8),
                [0x53, 0xFC, 0x43, 0x4F, 0x4E, 0x44]
            ),
            (
                "encoding", "account-utf8", "an account's name that is not UTF-8", text("ada-l"),
                u32(5) + [0x61, 0xFF, 0x61, 0x2D, 0x6C]
            ),
            (
                "order", "environments", "custom environments swapped",
                text("env-a") + text("env-b"), text("env-b") + text("env-a")
            ),
            (
                "order", "versions", "versions swapped", u64(1) + VectorVault.version(0).bytes,
                u64(7) + VectorVault.version(0).bytes
            ),
            (
                "order", "versions-doubled", "a number twice",
                u64(3) + VectorVault.version(1).bytes, u64(1) + VectorVault.version(1).bytes
            ),
            ("order", "accounts", "accounts swapped", text("home"), text("zome")),
            ("order", "directories-doubled", "a directory twice", text("/srv/b"), text("/srv/a")),
            (
                "bounds", "text-beyond", "a text that ends behind its entry", text("SECOND"),
                u32(500) + Array("SECOND".utf8)
            ),
            (
                "bounds", "name-long", "a record's name of 1,025 bytes", text("SECOND"),
                u32(1_025) + Array("SECOND".utf8)
            ),
        ]
        for (kind, name, description, old, new) in rows {
            try add(kind, name, description, Self.replacing(old, new))
        }
    }

    /// Invalid entries.
    private mutating func addEntryShapes() throws {
        let front = 52
        let rich = try VectorVault.rich()
        let project = AcceptedObject(rich.index.projects[0])
        let account = rich.index.accounts.first { $0.name == "home" }.map { AcceptedObject($0) }
        func entry(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
            [kind] + u32(UInt32(content.count)) + content
        }
        func only(_ entries: [[UInt8]]) -> (inout [UInt8]) throws -> Void {
            { section in section = Array(section[..<48]) + list(entries) }
        }
        let first = entry(1, project.content)
        let last = entry(3, account?.content ?? [])
        try add("encoding", "kind-0", "an entry of kind 0", { $0[front] = 0 })
        try add("encoding", "kind-7", "an entry of kind 7", { $0[front] = 7 })
        try add(
            "encoding", "kind-7-long", "an entry of kind 7 that ends behind the section",
            only([[7, 0xFF, 0xFF, 0xFF, 0xFF] + project.content]))
        try add(
            "bounds", "long", "an entry that ends behind the section",
            only([[1, 0xFF, 0xFF, 0xFF, 0xFF] + project.content]))
        try add("bounds", "cut", "an entry that ends in a number", { $0.removeLast(3) })
        try add(
            "bounds", "short", "an entry of no bytes",
            only([entry(1, []), entry(2, []), entry(3, [UInt8](repeating: 0, count: 60))]))
        try add(
            "encoding", "left", "a byte behind a project", only([entry(1, project.content + [0])]))
        try add(
            "encoding", "left-account", "a byte behind an account",
            only([entry(3, (account?.content ?? []) + [0])]))
        try add("encoding", "left-section", "a byte behind the last entry", { $0.append(0) })
        try add("order", "kinds", "an account before a project", only([last, first]))
        try add("order", "doubled", "a project twice", only([first, first]))
        try add(
            "encoding", "protection", "an account's token kept in way 3",
            only([
                entry(
                    3,
                    (account?.content ?? []).dropLast(33) + [3]
                        + (account?.content ?? []).suffix(32))
            ]))
        let record = rich.index.variables[0]
        var long = AcceptedRecord(of: record)
        long.versions = (1...10_001).map {
            VersionName(
                number: $0, id: VectorVault.version(0), batch: VectorVault.identifier(0x41),
                createdAt: 0)
        }
        try add(
            "checkpoint", "versions-most", "10,001 versions of a record, which is as many as fit",
            only([entry(2, long.content)]))
        long.versions.append(
            VersionName(
                number: 10_002, id: VectorVault.version(0), batch: VectorVault.identifier(0x41),
                createdAt: 0))
        try add(
            "bounds", "versions", "10,002 versions of a record", only([entry(2, long.content)]))
    }

    // MARK: Locked writes

    mutating func addLockedWrites() throws {
        func add(
            _ kind: String, _ name: String, _ description: String, _ old: [UInt8], _ new: [UInt8]
        ) throws {
            try self.add(kind, "locked-writes-\(name)", description, try .rich()) {
                $0.changeSections = { try $0[0].change(old, to: new) }
            }
        }
        let import7 = u64(7) + u64(1_700_000_000_800)
        try add(
            "order", "generations", "locked writes swapped", import7,
            u64(9) + u64(1_700_000_000_800))
        try add(
            "order", "generations-doubled", "two locked writes of one generation", import7,
            u64(8) + u64(1_700_000_000_800))
        try add(
            "order", "records", "records of a locked write swapped",
            VectorVault.records[0].bytes + VectorVault.records[5].bytes,
            VectorVault.records[5].bytes + VectorVault.records[0].bytes)
        try add(
            "order", "records-doubled", "a record of a locked write twice",
            VectorVault.records[0].bytes + VectorVault.records[5].bytes,
            VectorVault.records[5].bytes + VectorVault.records[5].bytes)
        try add(
            "bounds", "command", "a command of 65 bytes", text("import"),
            text(String(repeating: "x", count: 65)))
        try add(
            "encoding", "utf8", "a command that is not UTF-8", text("import"),
            u32(6) + [0x69, 0xFF, 0x70, 0x6F, 0x72, 0x74])
        try add(
            "bounds", "records-count", "more records than there are",
            text("set") + u32(1), text("set") + u32(1_000))
        try add(
            "bounds", "count", "more locked writes than there are", u32(2) + import7,
            u32(1_000) + import7)
        try self.add(
            "ok", "locked-writes-others", "a locked write of records that are not there",
            try .small()
        ) {
            $0.index.metadata.lockedWrites = [
                LockedWrite(
                    generation: 90, by: .init(command: "", time: 0),
                    variables: [VectorVault.records[6]])
            ]
        }
        try self.add(
            "bounds", "locked-writes-1001", "1,001 locked writes", try .small()
        ) {
            $0.index.metadata.lockedWrites = (1...1_001).map {
                LockedWrite(generation: $0, by: .init(command: "", time: 0), variables: [])
            }
        }
    }
}
