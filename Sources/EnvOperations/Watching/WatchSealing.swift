internal import JSON
package import Sealing
package import Vault

/// Seals what is kept of the watching: choices and progress name projects, so neither is on the disk
/// in clear; `docs/notifications.md` has it to the byte.
package final class WatchSealing {
    /// What is sealed.
    package enum Content: UInt64, Sendable {
        /// What somebody wants to be told.
        case choices = 1
        /// What was seen, and what is still to be told.
        case progress = 2
        /// How far a relay's events were read.
        case postal = 3
    }

    /// The longest file, in bytes.
    package static let byteLimit = 16 << 20
    private static let format: UInt8 = 1

    private let files: [Content: SealedFile]

    /// - Parameter key: The notification key of a vault's index key.
    package init(key: borrowing SecretBytes, vault: Identifier) throws(SealingError) {
        var files: [Content: SealedFile] = [:]
        for content in [Content.choices, .progress, .postal] {
            files[content] = SealedFile(
                key: try KeyDerivation.derive(
                    from: key, id: content.rawValue, context: "zgv2noti"),
                label: "zgv2/notify", number: UInt8(content.rawValue), vault: vault)
        }
        self.files = files
    }

    /// The file's bytes; nil where the value is too long to be kept.
    package func seal(_ value: some Encodable, as content: Content) -> [UInt8]? {
        guard let data = try? JSONEncoder().encode(value), data.count < Self.byteLimit - 8_192
        else { return nil }
        return files[content]?.seal([Self.format] + data)
    }

    /// Opens a file; nil for one that was changed or cut, or sealed by another vault or under another
    /// index key, or that holds something else.
    package func open<Value: Decodable>(
        _ file: [UInt8], as content: Content, _ type: Value.Type = Value.self
    ) -> Value? {
        guard file.count <= Self.byteLimit,
            let text = files[content]?.open(file), text.first == Self.format
        else { return nil }
        return try? JSONDecoder().decode(Value.self, from: Array(text.dropFirst()))
    }
}
