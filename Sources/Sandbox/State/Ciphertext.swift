internal import FoundationEssentials
internal import JSON
internal import WebhookSigning

/// Something that looks like the platform's encrypted values and gives nothing away by looking.
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

    /// Twenty bytes that look like chance and are the same every time.
    private static func bytes(of text: [UInt8]) -> [UInt8] {
        WebhookSignature.code(of: text, openSecret: Array("sandbox".utf8))
            ?? [UInt8](repeating: 0x5A, count: 20)
    }
}
