internal import FoundationEssentials
internal import JSON
internal import WebhookSigning

/// A fake ciphertext in the form of Vercel's, which does not visibly contain the value.
enum Ciphertext {
    /// Base64 of a small JSON object, about a third longer than the value.
    static func text(for value: String, salt: String) -> String {
        var hidden: [UInt8] = []
        let plain = Array(value.utf8)
        var pad: [UInt8] = []
        for (index, byte) in plain.enumerated() {
            if index % 20 == 0 { pad = bytes(of: Array("\(salt)/\(index)".utf8)) }
            hidden.append(byte ^ pad[index % 20])
        }
        let tag = bytes(of: plain + Array(salt.utf8))
        let wrapped: JSONValue = [
            "v": "v2", "c": .string(Data(hidden).base64EncodedString()),
            "i": .string(Data(tag.prefix(12)).base64EncodedString()), "k": "",
        ]
        return Data(wrapped.encoded).base64EncodedString()
    }

    /// Returns twenty bytes that look random but depend only on `text`.
    private static func bytes(of text: [UInt8]) -> [UInt8] {
        WebhookSignature.code(of: text, openSecret: Array("sandbox".utf8))
            ?? [UInt8](repeating: 0x5A, count: 20)
    }
}
