package import Sealing
package import Vault

/// The one-time code of an invite, 16 bytes: authenticates the invite to the newcomer, and the join
/// to the admin.
package struct InviteCode: ~Copyable {
    private let bytes: SecretBytes

    /// - Parameter bytes: 16 bytes.
    package init(_ bytes: consuming SecretBytes) {
        precondition(bytes.count == 16)
        self.bytes = bytes
    }

    /// The pair whose public half is in the invite; it signs the join.
    package borrowing func signingKeyPair(
        for invite: Identifier
    ) throws(GroupError) -> SigningKeyPair {
        let seed = try derive(.codeSigning, invite)
        return try sealing { () throws(SealingError) in try SigningKeyPair(seed: seed) }
    }

    /// Returns the MAC of the invite's bytes before it: 32 bytes.
    borrowing func mac(of text: [UInt8], for invite: Identifier) throws(GroupError) -> SecretBytes {
        let key = try derive(.codeMAC, invite)
        return try sealing { () throws(SealingError) in
            try text.withBytes { (text) throws(SealingError) in
                try key.withBytes { (key) throws(SealingError) in
                    try Digest.keyed(text, key: key)
                }
            }
        }
    }

    private borrowing func derive(
        _ label: GroupLabel, _ invite: Identifier
    ) throws(GroupError) -> SecretBytes {
        try sealing { () throws(SealingError) in
            try (label.bytes + invite.bytes).withBytes { (text) throws(SealingError) in
                try bytes.withBytes { (key) throws(SealingError) in
                    try Digest.keyed(text, key: key)
                }
            }
        }
    }
}
