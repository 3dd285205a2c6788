import Sealing

@testable import Vault

/// Errors before the index: the file's length, magic, header, slots, secrets.
extension VectorCatalogue {
    private typealias Change = (inout [UInt8]) -> Void

    mutating func addFronts() throws {
        let small = try VectorVault.small()
        let files: [(String, String, String, Change)] = [
            ("truncated", "empty", "no byte at all", { $0 = [] }),
            ("truncated", "15", "the first 15 bytes", { $0 = Array($0[..<15]) }),
            ("truncated", "16", "the first 16 bytes, so no header", { $0 = Array($0[..<16]) }),
            ("truncated", "header", "the header without its last byte", { $0 = Array($0[..<343]) }),
            ("truncated", "at-table", "the header alone", { $0 = Array($0[..<344]) }),
            ("truncated", "in-table", "half of the table", { $0 = Array($0[..<2_000]) }),
            ("truncated", "last-byte", "all but the last byte", { $0.removeLast() }),
            ("extended", "one-byte", "a byte behind the last chunk", { $0.append(0) }),
            (
                "extended", "twice", "a second file behind the first", { $0 += $0 }
            ),
            ("magic", "first-bit", "another first byte", { $0[0] ^= 1 }),
            ("magic", "line-feed", "another last byte of the magic", { $0[7] = 0x0D }),
            ("magic", "zeros", "zeros alone", { $0 = [UInt8](repeating: 0, count: 600) }),
            ("magic", "text", "a text of 20 bytes", { $0 = Array("KEY=value\nOTHER=more\n".utf8) }),
            ("header", "length-0", "a header length of 0", { $0.write(UInt32(0), at: 12) }),
            ("header", "length-151", "a header length of 151", { $0.write(UInt32(151), at: 12) }),
            (
                "header", "length-65537", "a header length of 65,537",
                { $0.write(UInt32(65_537), at: 12) }
            ),
            ("header", "length-max", "the highest header length", { $0.write(UInt32.max, at: 12) }),
            ("checksum", "vault-id", "a bit of the vault's id", { $0[24] ^= 4 }),
            ("checksum", "generation", "a bit of the generation", { $0[40] ^= 1 }),
            ("checksum", "public-key", "a bit of the public key", { $0[60] ^= 1 }),
            ("checksum", "slot", "a bit of the wrapped key", { $0[165] ^= 1 }),
            ("checksum", "last", "a bit of the checksum", { $0[343] ^= 0x80 }),
            ("checksum", "format", "format 4 with the checksum of format 3", { $0[8] = 4 }),
            (
                "checksum", "length", "a header length that is 192 more, within the file",
                { $0.write(UInt32(536), at: 12) }
            ),
        ]
        for (kind, name, description, change) in files {
            try add(kind, name, description, small) { $0.changeFile = change }
        }
        try addHeaders(small)
    }

    private mutating func addHeaders(_ small: VectorVault) throws {
        let headers: [(String, String, String, Change)] = [
            ("newer", "4", "format 4", { $0.write(UInt16(4), at: 8) }),
            ("newer", "65535", "the highest format", { $0.write(UInt16.max, at: 8) }),
            (
                "newer", "more", "format 4, with fields that format 3 forbids",
                {
                    $0.write(UInt16(4), at: 8)
                    $0.write(UInt64(0), at: 40)
                    $0[104] = 9
                }
            ),
            ("pre-release", "1", "format 1", { $0.write(UInt16(1), at: 8) }),
            ("pre-release", "2", "format 2", { $0.write(UInt16(2), at: 8) }),
            (
                "pre-release", "more", "format 1, with fields that format 3 forbids",
                {
                    $0.write(UInt16(1), at: 8)
                    $0.write(UInt64(0), at: 40)
                    $0[104] = 9
                }
            ),
            ("header", "format-0", "format 0", { $0.write(UInt16(0), at: 8) }),
            ("header", "zeros", "a bit in the two bytes that must be zero", { $0[11] = 1 }),
            ("header", "generation-0", "generation 0", { $0.write(UInt64(0), at: 40) }),
            ("header", "epoch-0", "index epoch 0", { $0.write(UInt32(0), at: 48) }),
            (
                "header", "slots-0", "no slots where there is room for one",
                { $0.write(UInt32(0), at: 84) }
            ),
            (
                "header", "slots-2", "two slots where there is room for one",
                { $0.write(UInt32(2), at: 84) }
            ),
            (
                "header", "slots-max", "the highest number of slots",
                { $0.write(UInt32.max, at: 84) }
            ),
            ("header", "table-16", "a table of a tag alone", { $0.write(UInt64(16), at: 304) }),
            (
                "header", "table-112", "a table of a proof and a tag alone",
                { $0.write(UInt64(112), at: 304) }
            ),
            ("header", "table-0", "a table of no bytes", { $0.write(UInt64(0), at: 304) }),
            (
                "header", "table-limit", "a table of more than 256 MiB",
                {
                    $0.write(UInt64(256 << 20) + 113, at: 304)
                    $0.write(UInt64(300 << 20), at: 16)
                }
            ),
            ("header", "table-max", "the highest table length", { $0.write(UInt64.max, at: 304) }),
            (
                "header", "table-beyond", "a table that ends behind the file",
                { $0.write(UInt64(100_000), at: 304) }
            ),
            ("header", "file-0", "a file length of 0", { $0.write(UInt64(0), at: 16) }),
            (
                "header", "file-limit", "a file length of 4 GiB and 1",
                { $0.write(UInt64(4 << 30) + 1, at: 16) }
            ),
            ("header", "file-max", "the highest file length", { $0.write(UInt64.max, at: 16) }),
            (
                "header", "unaligned", "8 bytes more than slots need",
                {
                    $0.insert(contentsOf: [UInt8](repeating: 0, count: 8), at: 280)
                    $0.write(UInt32(352), at: 12)
                }
            ),
        ]
        for (kind, name, description, change) in headers {
            try add(kind, name, description, small) { $0.forgeHeader = change }
        }
        try add("header", "slots-17", "seventeen slots", small) { vault in
            for _ in 0..<16 { try vault.addSlot(.secretService, .index) }
        }
        try add("header", "passphrases-5", "five slots of kind 1", small) { vault in
            for _ in 0..<4 { try vault.addSlot(.passphrase, .values) }
        }
        try add("header", "slot-twice", "two slots with one id", small) { vault in
            try vault.addSlot(.secretService, .index, number: 1)
        }
        try add("header", "before-slot", "two slots with one id, and one of no kind", small) {
            vault in
            try vault.addSlot(.secretService, .index, number: 1)
            vault.changeHeader = { $0[88 + 192 + 16] = 9 }
        }
        try add("slot", "before-length", "a slot of no kind, in a file that is cut", small) {
            vault in
            vault.changeHeader = { $0[104] = 9 }
            vault.changeFile = { $0.removeLast() }
        }
    }

    mutating func addSlots() throws {
        // Offsets in the first slot, a passphrase, and in the second, of the keyring.
        let (first, second) = (88, 280)
        var two = try VectorVault.small()
        try two.addSlot(.secretService, .index)
        var recovery = try VectorVault.small()
        try recovery.addSlot(.recovery, .values)
        let slots: [(String, String, Change)] = [
            ("kind-0", "kind 0", { $0[first + 16] = 0 }),
            ("kind-5", "kind 5", { $0[second + 16] = 5 }),
            ("tier-0", "tier 0", { $0[first + 17] = 0 }),
            ("tier-3", "tier 3", { $0[second + 17] = 3 }),
            ("derivation-none", "a passphrase without derivation", { $0[first + 18] = 0 }),
            ("derivation-hash", "a passphrase with a keyed hash", { $0[first + 18] = 2 }),
            ("derivation-keyring", "a keyring slot with Argon2id", { $0[second + 18] = 1 }),
            ("derivation-3", "derivation 3", { $0[second + 18] = 3 }),
            ("zero", "a bit in the zero behind the derivation", { $0[first + 19] = 1 }),
            ("zeros-first", "a bit in the first of the last zeros", { $0[first + 128] = 1 }),
            ("zeros-last", "a bit in the last of the last zeros", { $0[second + 191] = 0x80 }),
            ("operations-0", "no passes", { $0.write(UInt32(0), at: first + 20) }),
            ("operations-11", "eleven passes", { $0.write(UInt32(11), at: first + 20) }),
            ("operations-max", "the highest passes", { $0.write(UInt32.max, at: first + 20) }),
            (
                "memory-low", "one byte less than 8 MiB",
                { $0.write(UInt64(8 << 20) - 1, at: first + 24) }
            ),
            (
                "memory-high", "one byte more than 1 GiB",
                { $0.write(UInt64(1 << 30) + 1, at: first + 24) }
            ),
            ("memory-max", "the highest memory", { $0.write(UInt64.max, at: first + 24) }),
            (
                "product", "5 passes over 1 GiB",
                {
                    $0.write(UInt32(5), at: first + 20)
                    $0.write(UInt64(1 << 30), at: first + 24)
                }
            ),
            ("keyring-operations", "a keyring slot with passes", { $0[second + 20] = 1 }),
            ("keyring-memory", "a keyring slot with memory", { $0[second + 31] = 1 }),
        ]
        for (name, description, change) in slots {
            try add("slot", name, description, two) { $0.changeHeader = change }
        }
        try add("slot", "recovery-derivation", "a recovery code with Argon2id", recovery) {
            $0.changeHeader = { $0[second + 18] = 1 }
        }
    }

    mutating func addSecrets() throws {
        let small = try VectorVault.small()
        func adding(_ kind: KeySlot.Kind, _ tier: KeySlot.Tier) throws -> VectorVault {
            var vault = small
            try vault.addSlot(kind, tier)
            return vault
        }
        try add(
            "locked", "passphrase", "another passphrase", small, secret: .init(passphrase: "wrong"))
        try add(
            "locked", "passphrase-names",
            "the passphrase of a slot of the names, which is for no one",
            small
        ) { vault in
            vault.slots = []
            try vault.addSlot(.passphrase, .values, passphrase: "another one")
            try vault.addSlot(.passphrase, .index)
        }
        try add(
            "locked", "recovery", "the recovery code of another vault",
            try adding(.recovery, .values),
            secret: .init(recoveryCode: "2085-146H-258S-3MGJ-AA9D-64TK-JFRP"))
        try add(
            "locked", "recovery-slip", "two wrong characters in the recovery code",
            try adding(.recovery, .values),
            secret: .init(recoveryCode: "0108-1G81-860W-40J2-GB1G-6GW3-RGHX"))
        var other = Vector.Secret.slotKey(2)
        other.slotKey = String(repeating: "00", count: 32)
        try add(
            "locked", "keyring", "another key in the keyring", try adding(.secretService, .index),
            secret: other)
        let changed: [(String, String, (inout [UInt8]) -> Void)] = [
            ("slot-id", "a slot with another id than it was made with", { $0[280] ^= 1 }),
            ("slot-tier", "a slot of the names that says it is of the values", { $0[297] = 2 }),
            ("slot-nonce", "a slot with another nonce", { $0[330] ^= 1 }),
            ("slot-wrapped", "a slot with another wrapped key", { $0[352] ^= 1 }),
            ("slot-time", "a slot with another time", { $0[400] ^= 1 }),
        ]
        for (name, description, change) in changed {
            try add(
                "locked", name, description, try adding(.secretService, .index),
                secret: .slotKey(2)
            ) { $0.changeHeader = change }
        }
        try add("locked", "slot-vault", "a slot made for another vault", small) { vault in
            vault.slots = []
            try vault.addSlot(.passphrase, .values, vault: VectorVault.identifier(0x71))
        }
        let exchanged: [(String, VectorVault, Vector.Secret)] = [
            ("passphrase", small, .passphrase),
            ("recovery", try adding(.recovery, .values), .recoveryCode),
            ("keyring", try adding(.secretService, .values), .slotKey(2)),
            ("file", try adding(.file, .values), .keyFile(2)),
        ]
        for (name, vault, secret) in exchanged {
            try add(
                "exchanged-key", name, "another root's public key and proof", vault, secret: secret
            ) { try $0.exchangeKey() }
        }
    }

    mutating func addSeals() throws {
        let small = try VectorVault.small()
        let files: [(String, String, Change)] = [
            ("table-first", "a bit in the first byte of the table", { $0[344] ^= 1 }),
            ("table-last", "a bit in the table's tag", { $0[344 + 4_208 - 1] ^= 0x40 }),
        ]
        for (name, description, change) in files {
            try add("tag", name, description, small) { $0.changeFile = change }
        }
        let headers: [(String, String, Change)] = [
            ("generation", "another generation than was sealed", { $0[40] = 8 }),
            ("epoch", "another epoch than was sealed", { $0[48] = 2 }),
            ("nonce", "another nonce than was sealed", { $0[281] ^= 1 }),
        ]
        for (name, description, change) in headers {
            try add("tag", name, description, small) { $0.forgeHeader = change }
        }
        var names = small
        try names.addSlot(.secretService, .index)
        names.values = Self.namesAlone(names.values)
        let readers: [(String, VectorVault, Vector.Secret)] = [
            ("", small, .passphrase), ("-names", names, .slotKey(2)),
        ]
        for (suffix, vault, secret) in readers {
            let note = suffix.isEmpty ? "" : ", opened for its names alone"
            try add(
                "tag", "root" + suffix, "a table sealed with another root" + note, vault,
                secret: secret
            ) { vault in
                let publicKey = try vault.rootKey().signingPair().publicKey
                vault.root = [UInt8](repeating: 3, count: 32)
                vault.changeHeader = { $0.replaceSubrange(52..<84, with: publicKey) }
            }
            // The seal comes first: who wrote this header is not known.
            try add(
                "tag", "public-key" + suffix, "another public key than was sealed" + note, vault,
                secret: secret
            ) { vault in vault.forgeHeader = { $0[60] ^= 1 } }
        }
        let paddings: [(String, String, Change)] = [
            ("first", "a bit in the first zero", { $0[Self.end(of: $0)] = 1 }),
            ("last", "a bit in the last zero", { $0[$0.count - 1] = 0x80 }),
            (
                "long", "4,096 zeros more than there should be",
                { $0 += [UInt8](repeating: 0, count: 4_096) }
            ),
            ("short", "no zeros", { $0 = Array($0[..<Self.end(of: $0)]) }),
            ("length-max", "the highest content length", { $0.write(UInt32.max, at: 0) }),
            (
                "length-beyond", "a content one byte longer than the rest",
                { $0.write(UInt32(4_093), at: 0) }
            ),
            ("one-byte", "a table of one byte", { $0 = [0] }),
            ("three-bytes", "a table of three bytes", { $0 = [0, 0, 0] }),
            ("four-bytes", "a table of an empty content without zeros", { $0 = [0, 0, 0, 0] }),
        ]
        for (name, description, change) in paddings {
            try add("padding", name, description, small) { $0.changePadded = change }
        }
    }

    /// The end of the content of a padded index.
    private static func end(of padded: [UInt8]) -> Int {
        4 + (0..<4).reversed().reduce(0) { $0 << 8 | Int(padded[$1]) }
    }
}
