internal import Sealing
package import Vault

/// The ids of versions in groups.
package enum VersionIdentity {
    /// Returns the id of an author's version. Other members cannot make a version with the same id.
    package static func id(author: Identifier, seed: Identifier) -> Identifier {
        let text = GroupLabel.version.bytes + author.bytes + seed.bytes
        let digest = text.withBytes { Digest.checksum($0) }
        return Identifier(digest.prefix(16)) ?? .zero
    }
}
