internal import Sealing
internal import SystemFiles

/// What was seen last of one vault file on a machine.
package struct VaultSighting: Equatable, Sendable {
    /// The newest generation, against an older copy of the file.
    package let position: VaultPosition
    /// 32 bytes: a locked write seals to no other key.
    package let publicKey: [UInt8]
    /// The generation of the newest checkpoint that somebody with the root has checked, 0 for none.
    package let checkpointGeneration: UInt64

    /// Names all three.
    package init(position: VaultPosition, publicKey: [UInt8], checkpointGeneration: UInt64) {
        (self.position, self.publicKey) = (position, publicKey)
        self.checkpointGeneration = checkpointGeneration
    }

    /// The same place in time with another checkpoint.
    package func with(checkpointGeneration: UInt64) -> VaultSighting {
        VaultSighting(
            position: position, publicKey: publicKey, checkpointGeneration: checkpointGeneration)
    }
}

/// The line that keeps a sighting of one vault file on this machine.
///
/// One line of text; docs/vault-format.md section 7.2.
package struct VaultAnchor: Equatable, Sendable {
    /// The vault.
    package let vaultID: Identifier
    /// What was seen.
    package let sighting: VaultSighting

    /// Most bytes of a line.
    package static let byteLimit = 192

    /// Names both parts.
    package init(vaultID: Identifier, sighting: VaultSighting) {
        self.vaultID = vaultID
        self.sighting = sighting
    }

    /// The line, with its line feed.
    package var line: [UInt8] {
        let position = sighting.position
        let parts = [
            "zg-env-anchor-2", vaultID.hexadecimal, "\(position.generation)",
            Hexadecimal.text(of: position.indexTag), Hexadecimal.text(of: sighting.publicKey),
            "\(sighting.checkpointGeneration)",
        ]
        return Array((parts.joined(separator: " ") + "\n").utf8)
    }

    /// Reads a line; nil for anything but what ``line`` makes.
    package init?(_ line: [UInt8]) {
        guard line.count <= Self.byteLimit, let text = String(validating: line, as: UTF8.self)
        else { return nil }
        let parts = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6,
            let vaultID = Hexadecimal.bytes(of: parts[1]).flatMap({ Identifier($0) }),
            let generation = UInt64(parts[2]), let tag = Hexadecimal.bytes(of: parts[3]),
            tag.count == 16,
            let publicKey = Hexadecimal.bytes(of: parts[4]), publicKey.count == 32,
            let checkpoint = UInt64(parts[5])
        else { return nil }
        self.init(
            vaultID: vaultID,
            sighting: VaultSighting(
                position: VaultPosition(generation: generation, indexTag: tag),
                publicKey: publicKey, checkpointGeneration: checkpoint))
        guard self.line == line else { return nil }
    }

    /// What tells the anchors of copies of one vault apart: 32 hexadecimal digits of the canonical path
    /// of the file.
    package static func identifier(ofPath path: String) -> String {
        Hexadecimal.text(of: Array(path.utf8).withBytes { Digest.checksum($0) }.prefix(16))
    }

    /// Where the keyring keeps the anchor of the vault file at a canonical path.
    package static func keyringItem(vault: Identifier, path: String) -> KeyringItem {
        KeyringItem(
            vault: vault.hexadecimal, purpose: .anchor, identifier: identifier(ofPath: path))
    }
}
