/// Base64 (RFC 4648, section 4) without padding, of which each byte sequence has one valid form.
enum LineBase64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// The number of letters for so many bytes.
    static func byteCount(of count: Int) -> Int { (count * 4 + 2) / 3 }

    /// The value of a letter; nil for what is none.
    static func value(of letter: UInt8) -> UInt8? { values[Int(letter)] }

    /// Appends the letters of `bytes`.
    static func encode(_ bytes: [UInt8], appendingTo text: inout [UInt8]) {
        text.reserveCapacity(text.count + byteCount(of: bytes.count) + 1)
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < count ? UInt32(bytes[index + offset]) : 0)
            }
            for letter in 0...count {
                text.append(alphabet[Int(group >> (18 - 6 * UInt32(letter)) & 63)])
            }
            index += 3
        }
    }

    /// The bytes of letters; nil where ``encode(_:appendingTo:)`` would not have written these.
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (group, bits) = (0 as UInt32, 0 as UInt32)
        for letter in text {
            guard let value = value(of: letter) else { return nil }
            group = group << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        // Bits that belong to no byte are zero in the one valid form.
        guard group & ((1 << bits) - 1) == 0 else { return nil }
        return bytes
    }
}
