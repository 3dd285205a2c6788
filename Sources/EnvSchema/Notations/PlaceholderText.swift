/// Tells text that only shows what belongs somewhere from text that may be a value.
enum PlaceholderText {
    /// Whether a text looks unfinished: `<key>`, `CHANGE_ME`, `your-key`, `xxxxxx`, `sk-...`.
    static func matches(_ text: String) -> Bool {
        let bytes = text.utf8.map(\.lowerCase)
        guard let first = bytes.first, let last = bytes.last else { return false }
        if first == UInt8(ascii: "<"), last == UInt8(ascii: ">"), bytes.count > 1 { return true }
        if bytes.count >= 4, bytes.allSatisfy({ $0 == UInt8(ascii: "x") }) { return true }
        if bytes.count <= 11, words.contains(String(decoding: bytes, as: UTF8.self)) { return true }
        return containsMark(bytes)
    }

    private static let words: Set<String> = [
        "todo", "tbd", "placeholder", "dummy", "secret", "password", "changeit",
    ]

    private static func containsMark(_ bytes: [UInt8]) -> Bool {
        var opensBraces = false
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "x"):
                if has("xxxxxx", bytes, index) { return true }
            case UInt8(ascii: "."):
                if has("...", bytes, index) { return true }
            case UInt8(ascii: "{"):
                if has("{{", bytes, index) { opensBraces = true }
            case UInt8(ascii: "}"):
                if opensBraces, has("}}", bytes, index) { return true }
            case UInt8(ascii: "c"):
                if has("change", bytes, index), hasMe(bytes, index + 6) { return true }
            case UInt8(ascii: "r"):
                if has("replace", bytes, index), hasMe(bytes, index + 7) { return true }
            case UInt8(ascii: "y"):
                if has("your", bytes, index), isYours(bytes, index) { return true }
            default: break
            }
        }
        return false
    }

    private static func has(_ word: StaticString, _ bytes: [UInt8], _ index: Int) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count - index >= count else { return false }
        return word.withUTF8Buffer { word in
            (0..<count).allSatisfy { unsafe bytes[index + $0] == word[$0] }
        }
    }

    private static func hasMe(_ bytes: [UInt8], _ index: Int) -> Bool {
        let isSeparated = index < bytes.count && isSeparator(bytes[index])
        return has("me", bytes, isSeparated ? index + 1 : index)
    }

    /// `-`, `_` or a blank after `your`, and the start or a separator before it.
    private static func isYours(_ bytes: [UInt8], _ index: Int) -> Bool {
        guard index + 4 < bytes.count, isSeparator(bytes[index + 4]) else { return false }
        guard index > 0 else { return true }
        switch bytes[index - 1] {
        case UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"): return true
        case let byte: return isSeparator(byte)
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte.isBlankByte
    }
}
