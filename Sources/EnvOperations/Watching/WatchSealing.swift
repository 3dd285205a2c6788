internal import JSON
package import Sealing
package import Vault

/// Seals the stored state of watching, because choices and progress contain project names.
/// `docs/notifications.md` specifies the format.
package final class WatchSealing {
    /// The kind of sealed content.
    package enum Content: UInt64, Sendable {
        /// The chosen notifications.
        case choices = 1
        /// What was seen, and the notifications still to show.
        case progress = 2
        /// How far a relay's events were read.
        case postal = 3
    }

    /// The largest file, in bytes.
    package static let byteLimit = 16 << 20
    private static let format: UInt8 = 1

    private let files: [Content: SealedFile]

    /// - Parameter key: The notification key derived from the vault's index key.
    package init(key: borrowing SecretBytes, vault: Identifier) throws(SealingError) {
        var files: [Content: SealedFile] = [:]
        for content in [Content.choices, .progress, .postal] {
            files[content] = SealedFile(
                key: try KeyDerivation.derive(
                    from: key, id: content.rawValue, context: "zgv3noti"),
                label: "zgv3/notify", number: UInt8(content.rawValue), vault: vault)
        }
        self.files = files
    }

    /// Returns the file's bytes, or nil if the value is too large.
    package func seal(_ value: some Encodable, as content: Content) -> [UInt8]? {
        guard let data = try? JSONEncoder().encode(value), data.count < Self.byteLimit - 8_192
        else { return nil }
        return files[content]?.seal([Self.format] + data)
    }

    /// Opens a file. Returns nil if it was modified or truncated, was sealed by another vault or
    /// under another index key, or contains something else.
    package func open<Value: Decodable>(
        _ file: [UInt8], as content: Content, _ type: Value.Type = Value.self
    ) -> Value? {
        guard file.count <= Self.byteLimit,
            let text = files[content]?.open(file), text.first == Self.format
        else { return nil }
        return try? JSONDecoder().decode(Value.self, from: Array(text.dropFirst()))
    }
}
