internal import FoundationEssentials

/// Something that looks like the platform's encrypted values and gives nothing away by looking.
enum Ciphertext {
    /// Base64 of a small JSON object, about a third longer than the value.
    static func text(for value: String, salt: String) -> String {
        var hidden: [UInt8] = []
        let plain = Array(value.utf8)
        var pad: [UInt8] = []
        for (index, byte) in plain.enumerated() {
            if index % 20 == 0 { pad = SHA1.digest(of: Array("\(salt)/\(index)".utf8)) }
            hidden.append(byte ^ pad[index % 20])
        }
        let tag = SHA1.digest(of: plain + Array(salt.utf8))
        let wrapped: JSONValue = [
            "v": "v2", "c": .string(Data(hidden).base64EncodedString()),
            "i": .string(Data(tag.prefix(12)).base64EncodedString()), "k": "",
        ]
        return Data(wrapped.encoded).base64EncodedString()
    }
}
