/// Halves of characters in JSON: an escape such as `\\ud83d` that its other half does not follow, which
/// programs write that cut texts without looking.
enum LoneSurrogates {
    /// The text with each of them replaced by the escape of U+FFFD.
    static func replaced(in text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == 0x5C, index + 1 < bytes.count else {
                result.append(bytes[index])
                index += 1
                continue
            }
            guard let first = unit(bytes, at: index) else {
                // The character behind a backslash begins no escape itself.
                result += bytes[index..<(index + 2)]
                index += 2
                continue
            }
            let isPair =
                (0xD800..<0xDC00).contains(first)
                && unit(bytes, at: index + 6).map { (0xDC00..<0xE000).contains($0) } ?? false
            if isPair {
                result += bytes[index..<(index + 12)]
                index += 12
            } else if (0xD800..<0xE000).contains(first) {
                result += Array("\\ufffd".utf8)
                index += 6
            } else {
                result += bytes[index..<(index + 6)]
                index += 6
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The unit of an escape that begins at `index`; nil if none does.
    private static func unit(_ bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == 0x5C, bytes[index + 1] == 0x75 else {
            return nil
        }
        return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
    }
}
