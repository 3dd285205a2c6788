internal import Sealing
internal import SystemFiles

/// What was last seen of a vault file on a machine.
package struct VaultObservation: Equatable, Sendable {
    /// The newest generation, to detect an older copy of the file.
    package let position: VaultPosition
    /// 32 bytes. Locked writes seal to no other key.
    package let publicKey: [UInt8]
    /// The generation of the newest checkpoint that was verified with the root; 0 for none.
    package let checkpointGeneration: UInt64

    package init(position: VaultPosition, publicKey: [UInt8], checkpointGeneration: UInt64) {
        (self.position, self.publicKey) = (position, publicKey)
        self.checkpointGeneration = checkpointGeneration
    }

    /// Returns a copy with a different checkpoint.
    package func with(checkpointGeneration: UInt64) -> VaultObservation {
        VaultObservation(
            position: position, publicKey: publicKey, checkpointGeneration: checkpointGeneration)
    }
}

/// The rollback guard of a vault file on this machine: one line of text (docs/vault-format.md
/// section 7.2).
package struct RollbackGuard: Equatable, Sendable {
    package let vaultID: Identifier
    package let sighting: VaultObservation

    /// The most bytes of a line.
    package static let byteLimit = 192

    package init(vaultID: Identifier, sighting: VaultObservation) {
        self.vaultID = vaultID
        self.sighting = sighting
    }

    /// The line, including its line feed.
    package var line: [UInt8] {
        let position = sighting.position
        let parts = [
            "zg-env-anchor-2", vaultID.hexadecimal, "\(position.generation)",
            Hexadecimal.text(of: position.indexTag), Hexadecimal.text(of: sighting.publicKey),
            "\(sighting.checkpointGeneration)",
        ]
        return Array((parts.joined(separator: " ") + "\n").utf8)
    }

    /// Parses a line. Returns nil for anything but the exact form of ``line``.
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
            sighting: VaultObservation(
                position: VaultPosition(generation: generation, indexTag: tag),
                publicKey: publicKey, checkpointGeneration: checkpoint))
        guard self.line == line else { return nil }
    }

    /// Returns the identifier that distinguishes copies of one vault: 32 hexadecimal digits derived
    /// from the file's canonical path.
    package static func identifier(ofPath path: String) -> String {
        Hexadecimal.text(of: Array(path.utf8).withBytes { Digest.checksum($0) }.prefix(16))
    }

    /// Returns the keyring item for the vault file at a canonical path.
    package static func keyringItem(vault: Identifier, path: String) -> KeyringItem {
        KeyringItem(
            vault: vault.hexadecimal, purpose: .anchor, identifier: identifier(ofPath: path))
    }
}
