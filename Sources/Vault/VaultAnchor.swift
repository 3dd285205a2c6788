internal import Sealing

/// The newest generation of one vault file that was seen on this machine, against an older copy of it.
///
/// One line of text; docs/vault-format.md section 7.2.
package struct VaultAnchor: Equatable, Sendable {
    /// The vault.
    package let vaultID: Identifier
    /// The generation.
    package let position: VaultPosition

    /// Most bytes of a line.
    package static let byteLimit = 128

    /// Names both parts.
    package init(vaultID: Identifier, position: VaultPosition) {
        self.vaultID = vaultID
        self.position = position
    }

    /// The line, with its line feed.
    package var line: [UInt8] {
        let tag = Self.hexadecimal(position.indexTag)
        return Array(
            "zg-env-anchor-1 \(vaultID.hexadecimal) \(position.generation) \(tag)\n".utf8)
    }

    /// Reads a line; nil for anything but what ``line`` makes.
    package init?(_ line: [UInt8]) {
        guard line.count <= Self.byteLimit, let text = String(validating: line, as: UTF8.self)
        else { return nil }
        let parts = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, let vaultID = Self.bytes(parts[1]).flatMap({ Identifier($0) }),
            let generation = UInt64(parts[2]), let tag = Self.bytes(parts[3]), tag.count == 16
        else { return nil }
        self.init(
            vaultID: vaultID, position: VaultPosition(generation: generation, indexTag: tag))
        guard self.line == line else { return nil }
    }

    /// What tells the anchors of copies of one vault apart: 32 hexadecimal digits of the canonical path
    /// of the file.
    package static func identifier(ofPath path: String) -> String {
        hexadecimal(Array(Array(path.utf8).withBytes { Digest.checksum($0) }.prefix(16)))
    }

    /// Where the keyring keeps the anchor of the vault file at a canonical path.
    package static func keyringItem(vault: Identifier, path: String) -> KeyringItem {
        KeyringItem(
            vault: vault.hexadecimal, purpose: .anchor, identifier: identifier(ofPath: path))
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let nibbles = text.compactMap(\.hexDigitValue)
        guard nibbles.count == text.utf8.count, nibbles.count % 2 == 0 else { return nil }
        return stride(from: 0, to: nibbles.count, by: 2).map {
            UInt8(nibbles[$0] << 4 | nibbles[$0 + 1])
        }
    }
}
