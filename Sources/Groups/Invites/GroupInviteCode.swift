package import Sealing
package import Vault

/// The one-time code of an invite, 16 bytes: authenticates the invite to the newcomer, and the join
/// to the admin.
package struct GroupInviteCode: ~Copyable {
    private let bytes: SecretBytes

    /// - Throws: ``GroupError/Code/code`` unless there are 16 bytes.
    package init(_ bytes: consuming SecretBytes) throws(GroupError) {
        guard bytes.count == CodeText.byteCount else {
            throw GroupError(.code, "an invite code has an invalid size")
        }
        self.bytes = bytes
    }

    package static func random() throws(GroupError) -> GroupInviteCode {
        try GroupInviteCode(try sealing(try SecretBytes.random(count: CodeText.byteCount)))
    }

    /// Parses the text form, which ``CodeText`` describes.
    ///
    /// - Throws: ``GroupError/Code/code`` for a typing error, or another text.
    package init(reading text: borrowing SecretBytes) throws(GroupError) {
        guard let read = try sealing(try CodeText.bytes(reading: text)) else {
            throw GroupError(
                .code,
                CodeText.form(of: text) == .slip
                    ? "the invite code has a typo"
                    : "the text is not an invite code")
        }
        bytes = read
    }

    /// The code with hyphens, as the newcomer gets it: 34 bytes of ASCII.
    package borrowing func text() throws(GroupError) -> SecretBytes {
        try sealing(try CodeText.text(of: bytes))
    }

    /// The pair whose public half is in the invite; it signs the join.
    package borrowing func signingKeyPair(
        for invite: Identifier
    ) throws(GroupError) -> SigningKeyPair {
        let seed = try derive(.codeSigning, invite)
        return try sealing(try SigningKeyPair(seed: seed))
    }

    /// Returns the MAC of the invite's bytes before it: 32 bytes.
    borrowing func mac(of text: [UInt8], for invite: Identifier) throws(GroupError) -> SecretBytes {
        try Self.keyed(text, try derive(.codeMAC, invite))
    }

    private borrowing func derive(
        _ label: GroupLabel, _ invite: Identifier
    ) throws(GroupError) -> SecretBytes {
        try Self.keyed(label.bytes + invite.bytes, bytes)
    }

    private static func keyed(
        _ text: [UInt8], _ key: borrowing SecretBytes
    ) throws(GroupError) -> SecretBytes {
        try sealing(
            try text.withBytes { (text) throws(SealingError) in
                try key.withBytes { (key) throws(SealingError) in
                    try Digest.keyed(text, key: key)
                }
            })
    }
}
