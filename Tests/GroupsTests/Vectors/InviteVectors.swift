import Sealing
import Vault

@testable import Groups

/// Vectors of invites and joins.
enum InviteVectors {
    private static let admin = TestPool.members[0]
    private static let newcomer = TestPool.members[1]
    private static let code = [UInt8](repeating: 0x5A, count: 16)
    private static let id = Layout.id(1)

    private static func inviteCode(_ bytes: [UInt8] = code) throws -> GroupInviteCode {
        try GroupInviteCode(TestRandom.secret(bytes))
    }

    private static func invite(_ codeKey: [UInt8]) -> Layout {
        var invite = Layout()
        invite.add("label", Array("zg-env/invite/1\n".utf8))
        invite.add("id", id)
        invite.add("group", Layout.hash(1))
        invite.add("number", Layout.u64(3))
        invite.add("entry", Layout.hash(2))
        invite.add("author", admin.id.bytes)
        invite.add("made", Layout.u64(1_700_000_000_000))
        invite.add("ends", Layout.u64(1_700_000_600_000))
        invite.add("person.flag", [1])
        invite.add("person", newcomer.person.bytes)
        invite.add("name", Layout.text("carol"))
        invite.add("role", [2])
        invite.add("limit", EntryVectors.limit())
        invite.add("automatic", [0])
        invite.add("code", codeKey)
        return invite
    }

    /// MAC and signature as the layout says now.
    private static func finished(_ invite: Layout) throws -> Layout {
        guard let id = Identifier(id) else { fatalError("16 bytes") }
        var invite = invite
        let mac = try inviteCode().mac(of: invite.bytes, for: id)
        invite.add(
            "mac", mac.withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } })
        invite.add("signature", invite.bytes.withBytes { admin.authority.signature(of: $0) })
        return invite
    }

    private static func vector(
        _ name: String, _ description: String, _ bytes: [UInt8], _ result: String,
        code: [UInt8] = code
    ) -> GroupVector {
        GroupVector(
            name: "invite-\(name)", description: description,
            input: [
                "kind": "invite", "object": GroupVector.hexadecimal(bytes),
                "code": GroupVector.hexadecimal(code),
                "authorityKey": GroupVector.hexadecimal(admin.keys.authority),
            ], result: result)
    }

    static func all() throws -> [GroupVector] {
        guard let inviteID = Identifier(id) else { fatalError("16 bytes") }
        let pair = try inviteCode().signingKeyPair(for: inviteID)
        let bare = invite(pair.publicKey)
        let whole = try finished(bare)
        let admin = try finished(
            bare.with("role", [1]).with("limit.flag", [0]).with("limit.count", [])
                .with("limit.1", []).with("limit.2", []))
        let stranger = bare.with("code", Layout.blob(32))
        var vectors = [
            vector("ok", "one more machine, limited", whole.bytes, "ok"),
            vector("ok-admin", "an admin", admin.bytes, "ok"),
            vector(
                "automatic-admin", "an automatic admin", admin.with("automatic", [1]).bytes,
                "layout"),
            vector("automatic-flag", "a flag of 2", whole.with("automatic", [2]).bytes, "encoding"),
            vector(
                "label", "the label of a join",
                whole.with("label", Array("zg-env/join/1\n\0\0".utf8)).bytes, "label"),
            vector(
                "newer", "version 2", whole.with("label", Array("zg-env/invite/2\n".utf8)).bytes,
                "newer"),
            vector("length", "15 bytes", Array(whole.bytes.prefix(15)), "length"),
            vector(
                "number", "the entry number 0", whole.with("number", Layout.u64(0)).bytes, "layout"),
            vector("person-flag", "a flag of 2", whole.with("person.flag", [2]).bytes, "encoding"),
            vector("name-empty", "no name", whole.with("name", Layout.text("")).bytes, "encoding"),
            vector(
                "name-long", "a name of 257 bytes",
                whole.with("name", Layout.text(String(repeating: "a", count: 257))).bytes, "bounds"),
            vector(
                "ok-name-long", "a name of 256 bytes",
                try finished(bare.with("name", Layout.text(String(repeating: "a", count: 256))))
                    .bytes,
                "ok"),
            vector("role", "the role 0", whole.with("role", [0]).bytes, "encoding"),
            vector("limited-admin", "a limited admin", whole.with("role", [1]).bytes, "layout"),
            vector(
                "limit-order", "a limit out of order", whole.swapping("limit.1", "limit.2").bytes,
                "order"),
            vector("left", "a byte after the signature", whole.bytes + [0], "encoding"),
            vector("cut-off", "without the last byte", Array(whole.bytes.dropLast()), "bounds"),
            vector("code", "another code", whole.bytes, "code", code: Layout.blob(16)),
            vector("code-key", "the key of another code", try finished(stranger).bytes, "code"),
            vector("mac", "another MAC", whole.with("mac", Layout.blob(32)).bytes, "code"),
            vector(
                "entry", "another entry than the MAC covers",
                whole.with("entry", Layout.hash(7)).bytes, "code"),
            vector(
                "signature", "another signature", whole.with("signature", Layout.blob(64)).bytes,
                "signature"),
        ]
        vectors += try joins(pair)
        return vectors
    }

    private static func joins(_ pair: borrowing SigningKeyPair) throws -> [GroupVector] {
        // 3 is a wrong signature, which the later ones cover.
        func signed(_ join: Layout, _ order: [Int] = [0, 1, 2]) -> Layout {
            var join = join
            for (place, signer) in order.enumerated() {
                let signature: [UInt8]
                switch signer {
                case 3: signature = Layout.blob(64)
                case 0: signature = join.bytes.withBytes { newcomer.write.signature(of: $0) }
                case 1: signature = join.bytes.withBytes { newcomer.authority.signature(of: $0) }
                default: signature = join.bytes.withBytes { pair.signature(of: $0) }
                }
                join.add("signature.\(place)", signature)
            }
            return join
        }
        var bare = Layout()
        bare.add("label", Array("zg-env/join/1\n\0\0".utf8))
        bare.add("group", Layout.hash(1))
        bare.add("invite", id)
        bare.add("member", newcomer.id.bytes)
        bare.add("keys", newcomer.keys.all.flatMap { $0 })
        bare.add("made", Layout.u64(1_700_000_000_000))
        let whole = signed(bare)
        func vector(_ name: String, _ description: String, _ bytes: [UInt8], _ result: String)
            -> GroupVector
        {
            GroupVector(
                name: "join-\(name)", description: description,
                input: [
                    "kind": "join", "object": GroupVector.hexadecimal(bytes),
                    "codeKey": GroupVector.hexadecimal(pair.publicKey),
                ], result: result)
        }
        return [
            vector("ok", "three signatures", whole.bytes, "ok"),
            vector(
                "label", "the label of an invite",
                whole.with("label", Array("zg-env/invite/1\n".utf8)).bytes, "label"),
            vector(
                "newer", "version 3", whole.with("label", Array("zg-env/join/3\n\0\0".utf8)).bytes,
                "newer"),
            vector(
                "length", "1,025 bytes",
                whole.bytes + EntryVectors.zeros(1_025 - whole.bytes.count), "length"),
            vector("left", "a byte after the signature", whole.bytes + [0], "encoding"),
            vector("cut-off", "without the last byte", Array(whole.bytes.dropLast()), "bounds"),
            vector("keys", "other keys", whole.with("keys", Layout.blob(128)).bytes, "signature"),
            vector(
                "order", "signatures in another order", signed(bare, [1, 0, 2]).bytes, "signature"),
            vector(
                "write-signed", "another first signature, under the right later ones",
                signed(bare, [3, 1, 2]).bytes, "signature"),
            vector(
                "authority-signed", "another second signature, under the right last one",
                signed(bare, [0, 3, 2]).bytes, "signature"),
            vector("code", "signed by no code", signed(bare, [0, 1, 1]).bytes, "signature"),
            vector(
                "write", "another first signature",
                whole.with("signature.0", Layout.blob(64)).bytes, "signature"),
        ]
    }
}
