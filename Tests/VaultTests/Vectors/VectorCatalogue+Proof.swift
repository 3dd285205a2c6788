import Sealing

@testable import Vault

/// Proofs that hold, and proofs that do not.
extension VectorCatalogue {
    private typealias Change = (inout VectorVault) throws -> Void
    private typealias BytesChange = (inout [UInt8]) throws -> Void

    /// The classes of one file for a reader with the root, and for one of the names alone.
    private struct Classes {
        let root: String
        let names: String

        static let signature = Classes(root: "signature", names: "signature")
        /// Only the root can check the code.
        static let code = Classes(root: "signature", names: "ok")
        /// Without the root and without a rollback guard, any public key is the vault's.
        static let key = Classes(root: "exchanged-key", names: "ok")
        static let keyAndSignature = Classes(root: "exchanged-key", names: "signature")
    }

    private static let root = VectorVault().root

    /// One record, a passphrase, and a keyring slot of the names.
    private static func small() throws -> VectorVault {
        var vault = try VectorVault.small()
        try vault.addSlot(.secretService, .index)
        return vault
    }

    /// Adds a file for each of both readers. The second slot of `vault` must be of the names.
    private mutating func add(
        _ classes: Classes, _ name: String, _ description: String, _ vault: VectorVault,
        change: Change
    ) throws {
        try add(classes.root, name, description, vault, change: change)
        var names = vault
        names.values = Self.namesAlone(vault.values)
        try add(
            classes.names, name + "-names", description + ", opened for its names alone", names,
            secret: .slotKey(2), change: change)
    }

    mutating func addProofs() throws {
        try addProofBytes()
        try addProofLengths()
        try addCoveredHeaders()
        try addCoveredContents()
        try addMessages()
        try addForgeries()
        try addExchangedKeys()
        try addProofOrder()
    }

    // MARK: The proof's bytes

    private mutating func addProofBytes() throws {
        let zeros = [UInt8](repeating: 0, count: 96)
        let rows: [(Classes, String, String, BytesChange)] = [
            (.code, "code-first", "a bit in the first byte of the code", { $0[0] ^= 1 }),
            (.code, "code-last", "a bit in the last byte of the code", { $0[31] ^= 0x80 }),
            (
                .code, "code-zeros", "zeros in place of the code",
                { $0.replaceSubrange(0..<32, with: zeros[..<32]) }
            ),
            (.signature, "first", "a bit in the first byte of the signature", { $0[32] ^= 1 }),
            (
                .signature, "middle", "a bit in the first byte of the signature's second half",
                { $0[64] ^= 1 }
            ),
            (.signature, "last", "a bit in the last byte of the signature", { $0[95] ^= 0x80 }),
            (
                .signature, "zeros", "zeros in place of the signature",
                { $0.replaceSubrange(32..<96, with: zeros[..<64]) }
            ),
            (.signature, "proof-zeros", "zeros in place of the proof", { $0 = zeros }),
            (
                .signature, "exchanged", "the signature in front of the code",
                { proof in
                    proof += proof[..<32]
                    proof.removeFirst(32)
                }
            ),
            (
                .signature, "halves", "the halves of the signature exchanged",
                { proof in
                    proof += proof[32..<64]
                    proof.removeSubrange(32..<64)
                }
            ),
            (
                .signature, "malleable", "the order of the group added to the signature's number",
                { Self.addOrder(to: &$0) }
            ),
        ]
        for (classes, name, description, change) in rows {
            try add(classes, name, description, try Self.small()) { $0.changeProof = change }
        }
    }

    /// Adds the order of Ed25519's group to the number in the second half of the signature, which
    /// makes another signature for a reader that does not insist on the lowest one.
    private static func addOrder(to proof: inout [UInt8]) {
        let low: [UInt8] = [
            0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9,
            0xDE, 0x14,
        ]
        let order = low + [UInt8](repeating: 0, count: 15) + [0x10]
        var carry = 0
        for (place, byte) in order.enumerated() {
            let sum = Int(proof[64 + place]) + Int(byte) + carry
            proof[64 + place] = UInt8(sum & 0xFF)
            carry = sum >> 8
        }
    }

    private mutating func addProofLengths() throws {
        let rows: [(String, String, Int, BytesChange)] = [
            ("missing", "no proof", 0, { $0 = [] }),
            ("code-alone", "a code without a signature", 32, { $0.removeLast(64) }),
            ("short", "a proof without its last byte", 95, { $0.removeLast() }),
            ("long", "a byte behind the proof", 97, { $0.append(0) }),
            ("twice", "the proof twice", 192, { $0 += $0 }),
        ]
        for (name, description, count, change) in rows {
            try add(.signature, name, description, try Self.small()) { vault in
                vault.proofByteCount = count
                vault.changeProof = change
            }
        }
    }

    // MARK: What the proof covers

    /// Makes the proof for another header than the file's.
    private static func covering(
        _ change: @escaping (inout VaultHeader) throws -> Void
    ) -> Change {
        { vault in
            vault.makeProof = { header, content in
                var other = try VaultHeader.decode(header)
                try change(&other)
                return try VectorVault.proof(of: other.encoded(), content, by: Self.root)
            }
        }
    }

    private mutating func addCoveredHeaders() throws {
        let rows: [(String, String, (inout VaultHeader) throws -> Void)] = [
            ("generation-before", "made for the generation before", { $0.generation -= 1 }),
            ("generation-after", "made for the next generation", { $0.generation += 1 }),
            (
                "vault", "made for another vault", { $0.vaultID = VectorVault.identifier(0x71) }
            ),
            ("epoch", "made for another epoch", { $0.indexEpoch += 1 }),
            ("public-key", "made for another public key", { $0.publicKey[31] ^= 1 }),
            (
                "slot-added", "made before the last slot was added",
                { $0.slots.removeLast() }
            ),
            (
                "slot-removed", "made before the last slot was removed",
                { header in
                    var vault = try VectorVault.small()
                    try vault.addSlot(.file, .values, number: 3)
                    header.slots.append(vault.slots[1])
                }
            ),
            (
                "slot-other", "made before the last slot was replaced",
                { header in
                    var vault = try VectorVault.small()
                    try vault.addSlot(.secretService, .index)
                    header.slots[1] = vault.slots[1]
                }
            ),
            ("slots-exchanged", "made for the slots in another order", { $0.slots.reverse() }),
            ("slots-none", "made for a header without slots", { $0.slots = [] }),
            ("nonce", "made for another nonce", { $0.tableNonce[0] ^= 1 }),
            ("table-length", "made for a longer table", { $0.tableByteCount += 4_096 }),
            ("file-length", "made for a longer file", { $0.fileByteCount += 1 }),
        ]
        for (name, description, change) in rows {
            try add(
                .signature, name, description, try Self.small(), change: Self.covering(change))
        }
        try add(.signature, "header-none", "made without the header", try Self.small()) {
            $0.makeProof = { try VectorVault.proof(of: [], $1, by: Self.root) }
        }
        try add(
            .signature, "checksum", "made for the header without its checksum", try Self.small()
        ) {
            $0.makeProof = { try VectorVault.proof(of: Array($0.dropLast(32)), $1, by: Self.root) }
        }
    }

    private mutating func addCoveredContents() throws {
        let other = try VectorVault.rich().index.encodedTable().withBytes { $0.array }
        let rows: [(String, String, ([UInt8]) -> [UInt8])] = [
            ("content-none", "made without the content", { _ in [] }),
            ("content-other", "made for another content", { _ in other }),
            (
                "content-length", "made for the content without its length",
                { Array($0.dropFirst(4)) }
            ),
            (
                "content-zeros", "made for the content without the zeros after it",
                { content in Array(content[...(content.lastIndex { $0 != 0 } ?? 0)]) }
            ),
        ]
        for (name, description, change) in rows {
            try add(.signature, name, description, try Self.small()) {
                $0.makeProof = { try VectorVault.proof(of: $0, change($1), by: Self.root) }
            }
        }
        try add(
            .signature, "content-first", "made for the content and then the header",
            try Self.small()
        ) { $0.makeProof = { try VectorVault.proof(of: $1, $0, by: Self.root) } }
    }

    // MARK: How the proof is made

    private static func label(_ text: String = "zgv3/signed") -> [UInt8] {
        Array(text.utf8) + [UInt8](repeating: 0, count: 16 - text.utf8.count)
    }

    private static func hash(_ front: [UInt8], _ content: [UInt8]) -> [UInt8] {
        front.withBytes { front in content.withBytes { Digest.long(front, then: $0) } }
    }

    /// A code and a signature over any bytes.
    private static func proof(over message: [UInt8]) throws -> [UInt8] {
        let root = RootKey(try VectorVault.secret(Self.root))
        let pair = try root.signingPair()
        let key = try root.indexCodeKey()
        return message.withBytes { Digest.code(of: $0, key: key) + pair.signature(of: $0) }
    }

    private mutating func add(
        _ classes: Classes, _ name: String, _ description: String,
        over message: @escaping (_ header: [UInt8], _ content: [UInt8]) -> [UInt8]
    ) throws {
        try add(classes, name, description, try Self.small()) {
            $0.makeProof = { try Self.proof(over: message($0, $1)) }
        }
    }

    private mutating func addMessages() throws {
        let label = Self.label()
        let other = Self.label("zgv3/index")
        try add(Classes(root: "ok", names: "ok"), "proof", "a proof made as the page says") {
            label + Self.hash(label + $0, $1)
        }
        try add(.signature, "label-none", "a proof over the hash alone") {
            Self.hash(label + $0, $1)
        }
        try add(.signature, "label-other", "a proof over another label and the hash") {
            other + Self.hash(label + $0, $1)
        }
        try add(.signature, "hash-label", "a proof over a hash without a label") {
            label + Self.hash($0, $1)
        }
        try add(.signature, "hash-short", "a proof over a hash of 32 bytes") { header, content in
            let all = label + header + content
            return label + all.withBytes { Digest.checksum($0) }
        }
        try add(.signature, "hash-none", "a proof over the header and the content themselves") {
            label + $0 + $1
        }
        try addDerivations(label)
    }

    /// Proofs with other keys that follow from the root.
    private mutating func addDerivations(_ label: [UInt8]) throws {
        try add(.code, "code-key", "a code under the batch key", try Self.small()) { vault in
            vault.makeProof = { header, content in
                let root = RootKey(try VectorVault.secret(Self.root))
                let key = try root.batchKey()
                let covered = label + Self.hash(label + header, content)
                let right = try VectorVault.proof(of: header, content, by: Self.root)
                return covered.withBytes { Digest.code(of: $0, key: key) } + right[32...]
            }
        }
        try add(.signature, "pair", "a signature of a pair made of the group key", try Self.small())
        { vault in
            vault.makeProof = { header, content in
                let root = RootKey(try VectorVault.secret(Self.root))
                let pair = try SigningKeyPair(seed: try root.groupKey())
                let covered = label + Self.hash(label + header, content)
                let right = try VectorVault.proof(of: header, content, by: Self.root)
                return Array(right[..<32]) + covered.withBytes { pair.signature(of: $0) }
            }
        }
    }

    // MARK: Forged with the index key

    /// Changes to the content behind the proof, sealed again.
    private mutating func addForgeries() throws {
        func replacing(_ old: [UInt8], _ new: [UInt8]) -> BytesChange {
            { try $0.change(old, to: new) }
        }
        let (origin, other) = (text("https://api.example.com"), text("https://api.example.net"))
        let rows: [(String, String, BytesChange)] = [
            ("project", "another name of a project", replacing(text("api"), text("abi"))),
            (
                "binding", "another origin of a binding",
                replacing(
                    origin + text("user_1") + [1] + text("team_1"),
                    other + text("user_1") + [1] + text("team_1"))
            ),
            (
                "account", "another origin of an account",
                replacing(text("work") + origin, text("work") + other)
            ),
            (
                "token", "another token",
                replacing(text("token of work"), text("token of home"))
            ),
            ("directory", "another approved directory", replacing(text("/srv/b"), text("/srv/c"))),
            ("setting", "another value of a setting", replacing(text("preview"), text("staging"))),
            (
                "entry", "another payload of a journal entry",
                replacing([3, 0, 0, 0, 1, 2, 3], [3, 0, 0, 0, 1, 2, 9])
            ),
            (
                "log-key", "another former log key",
                replacing(
                    [UInt8](repeating: 0xEE, count: 32), [UInt8](repeating: 0xED, count: 32))
            ),
            ("zeros", "a bit in the last zero", { $0[$0.count - 1] = 0x80 }),
            ("length", "the highest content length", { $0.write(UInt32.max, at: 0) }),
            ("part", "a part longer than the content", { $0.write(UInt32.max, at: 5) }),
            ("groups", "the flag of groups", { $0[4] = 1 }),
        ]
        for (name, description, change) in rows {
            try add(
                .signature, "forged-\(name)", description + ", which the proof does not cover",
                try .rich()
            ) { $0.forgePadded = change }
        }
        var work = try Self.small()
        work.index.journal = [try RotationEntryTests.sample(isFull: true, isOpen: true).entry()]
        work.index.secretJournal = [try VectorVault.relay(1)]
        try add(
            .signature, "forged-rotation",
            "another command of a rotation, which the proof does not cover", work
        ) { $0.forgePadded = { try $0.change(text("apply"), to: text("other")) } }
        try add(
            .signature, "forged-relay", "another relay, which the proof does not cover", work
        ) {
            $0.forgePadded = {
                try $0.change(text("https://relay-1.example"), to: text("https://relay-2.example"))
            }
        }
    }

    // MARK: Another root

    private mutating func addExchangedKeys() throws {
        try add(.signature, "root", "a proof of another root", try Self.small()) {
            $0.makeProof = { try VectorVault.proof(of: $0, $1, by: VectorVault.otherRoot) }
        }
        try add(.key, "sealed", "another root's public key and proof", try Self.small()) {
            try $0.exchangeKey()
        }
        try add(
            .keyAndSignature, "kept", "another root's public key, and the proof from before",
            try Self.small()
        ) { vault in
            let own = try vault.rootKey().signingPair().publicKey
            try vault.exchangeKey()
            let cover = Self.covering { $0.publicKey = own }
            try cover(&vault)
        }
        // Only a holder of the root can make this one.
        try add(
            .keyAndSignature, "covered", "another root's public key, which the proof covers",
            try Self.small()
        ) { vault in
            try vault.exchangeKey()
            vault.makeProof = nil
        }
        try addUnusableKeys()
    }

    /// Public keys of low order: with one, a reader that does not refuse it may take the same
    /// signature for that of anything.
    private mutating func addUnusableKeys() throws {
        let zeros = [UInt8](repeating: 0, count: 31)
        let one: [UInt8] = [1] + zeros
        // The point of order 1, and the number 0.
        let signature = one + [UInt8](repeating: 0, count: 32)
        // The field's order and 1, and the same less 1.
        var high = [UInt8](repeating: 0xFF, count: 32)
        high[0] = 0xEE
        high[31] = 0x7F
        var two = high
        two[0] = 0xEC
        let eight: [UInt8] = [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF,
            0x98, 0xF0, 0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88,
            0x6D, 0x53, 0xFC, 0x05,
        ]
        let points: [(String, String, [UInt8])] = [
            ("zero", "a public key of zeros, of order 4", [UInt8](repeating: 0, count: 32)),
            ("one", "a public key of order 1", one),
            ("one-high", "a public key of order 1, written as a number beyond the field", high),
            ("two", "a public key of order 2", two),
            ("eight", "a public key of order 8", eight),
        ]
        for (name, description, key) in points {
            try add(.keyAndSignature, "order-\(name)", description, try Self.small()) { vault in
                try vault.exchangeKey()
                vault.changeHeader = { $0.replaceSubrange(52..<84, with: key) }
                vault.changeProof = { $0.replaceSubrange(32..<96, with: signature) }
            }
        }
    }

    // MARK: Before other problems

    private mutating func addProofOrder() throws {
        let code: BytesChange = { $0[0] ^= 1 }
        let signature: BytesChange = { $0[32] ^= 1 }
        let rows: [(Classes, String, String, BytesChange, Change)] = [
            (
                .signature, "before-padding", "a wrong signature, and a bit in the last zero",
                signature, { $0.changePadded = { $0[$0.count - 1] = 0x80 } }
            ),
            (
                Classes(root: "signature", names: "padding"), "code-before-padding",
                "a wrong code, and a bit in the last zero", code,
                { $0.changePadded = { $0[$0.count - 1] = 0x80 } }
            ),
            (
                .signature, "before-groups", "a wrong signature, and the flag of groups",
                signature, { $0.changeContent = { $0[0] = 1 } }
            ),
            (
                .signature, "before-bounds",
                "a wrong signature, and a part longer than the content", signature,
                { $0.changeContent = { $0.write(UInt32.max, at: 1) } }
            ),
            (
                .signature, "before-batch",
                "a wrong signature, and a data key under another root", signature,
                { try $0.addBatch(2, underRoot: VectorVault.otherRoot) }
            ),
            (
                .code, "code-before-batch", "a wrong code, and a data key under another root", code,
                { try $0.addBatch(2, underRoot: VectorVault.otherRoot) }
            ),
            (
                .signature, "before-chunk", "a wrong signature, and a changed chunk", signature,
                { $0.changeFile = { $0[$0.count - 1] ^= 1 } }
            ),
        ]
        for (classes, name, description, change, more) in rows {
            try add(classes, name, description, try Self.small()) { vault in
                vault.changeProof = change
                try more(&vault)
            }
        }
    }
}

extension VectorVault {
    /// The root of someone else.
    static let otherRoot = [UInt8](repeating: 9, count: 32)

    /// Exchanges the public key and the proof for the other root's, as a holder of the index key
    /// can.
    mutating func exchangeKey() throws {
        let publicKey = try RootKey(try Self.secret(Self.otherRoot)).signingPair().publicKey
        changeHeader = { $0.replaceSubrange(52..<84, with: publicKey) }
        makeProof = { try Self.proof(of: $0, $1, by: Self.otherRoot) }
    }
}
