internal import Sealing
internal import SystemFiles

/// What was last seen of a vault file on a machine.
package struct VaultObservation: Equatable, Sendable {
    /// The newest generation, to detect an older copy of the file.
    package let position: VaultPosition
    /// 32 bytes: the key by which a reader without the root checks who wrote the index.
    package let publicKey: [UInt8]

    package init(position: VaultPosition, publicKey: [UInt8]) {
        (self.position, self.publicKey) = (position, publicKey)
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
            "zg-env-anchor-3", vaultID.hexadecimal, "\(position.generation)",
            Hexadecimal.text(of: position.indexTag), Hexadecimal.text(of: sighting.publicKey),
        ]
        return Array((parts.joined(separator: " ") + "\n").utf8)
    }

    /// Parses a line. Returns nil for anything but the exact form of ``line``.
    package init?(_ line: [UInt8]) {
        guard line.count <= Self.byteLimit, let text = String(validating: line, as: UTF8.self)
        else { return nil }
        let parts = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 5,
            let vaultID = Hexadecimal.bytes(of: parts[1]).flatMap({ Identifier($0) }),
            let generation = UInt64(parts[2]), let tag = Hexadecimal.bytes(of: parts[3]),
            tag.count == 16,
            let publicKey = Hexadecimal.bytes(of: parts[4]), publicKey.count == 32
        else { return nil }
        self.init(
            vaultID: vaultID,
            sighting: VaultObservation(
                position: VaultPosition(generation: generation, indexTag: tag),
                publicKey: publicKey))
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
