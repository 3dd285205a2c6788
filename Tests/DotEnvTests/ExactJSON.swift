/// A JSON parser that keeps every character of a string; Foundation's drops U+FEFF in some places,
/// which these tests check.
struct ExactJSON {
    enum Value {
        case null
        case bool(Bool)
        case number
        case string(String)
        case array([Value])
        case object([String: Value])

        var string: String? {
            if case .string(let text) = self { text } else { nil }
        }

        var array: [Value]? {
            if case .array(let items) = self { items } else { nil }
        }

        var object: [String: Value]? {
            if case .object(let members) = self { members } else { nil }
        }

        /// The same, with null for `reference`, and nil for an error, which is false.
        func pairs(besides reference: [Pair]) -> [Pair]? {
            if case .null = self { return reference }
            return pairs
        }

        /// Pairs of a name and a value or null.
        var pairs: [Pair]? {
            array.map { items in
                items.map { item in
                    Pair(item.array?.first?.string ?? "", item.array?.last?.string)
                }
            }
        }
    }

    private let bytes: [UInt8]
    private var index = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The value of a text, or null if it is invalid.
    static func value(_ bytes: some Sequence<UInt8>) -> Value {
        var reader = ExactJSON(Array(bytes))
        return reader.value() ?? .null
    }

    private var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

    private mutating func skipSpace() {
        while [0x20, 0x0A, 0x0D, 0x09].contains(next) { index += 1 }
    }

    private mutating func take(_ byte: Character) -> Bool {
        skipSpace()
        guard next == byte.asciiValue else { return false }
        index += 1
        return true
    }

    private mutating func value() -> Value? {
        skipSpace()
        switch next {
        case UInt8(ascii: "\""):
            return string().map { .string($0) }
        case UInt8(ascii: "["):
            index += 1
            var items: [Value] = []
            while !take("]") {
                guard let item = value() else { return nil }
                items.append(item)
                _ = take(",")
            }
            return .array(items)
        case UInt8(ascii: "{"):
            index += 1
            var members: [String: Value] = [:]
            while !take("}") {
                skipSpace()
                guard let name = string(), take(":"), let item = value() else { return nil }
                members[name] = item
                _ = take(",")
            }
            return .object(members)
        default:
            let start = index
            while index < bytes.count, ![0x2C, 0x5D, 0x7D, 0x0A, 0x20].contains(next) { index += 1 }
            switch String(decoding: bytes[start..<index], as: UTF8.self) {
            case "null": return .null
            case "true": return .bool(true)
            case "false": return .bool(false)
            case "": return nil
            default: return .number
            }
        }
    }

    private mutating func string() -> String? {
        guard next == UInt8(ascii: "\"") else { return nil }
        index += 1
        var units: [UInt16] = []
        var plain = index
        func flush(_ end: Int) {
            units += Array(String(decoding: bytes[plain..<end], as: UTF8.self).utf16)
        }
        while index < bytes.count, next != UInt8(ascii: "\"") {
            guard next == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            flush(index)
            index += 1
            switch next {
            case UInt8(ascii: "b"): units.append(8)
            case UInt8(ascii: "f"): units.append(12)
            case UInt8(ascii: "n"): units.append(10)
            case UInt8(ascii: "r"): units.append(13)
            case UInt8(ascii: "t"): units.append(9)
            case UInt8(ascii: "u"):
                let digits = bytes[min(index + 1, bytes.count)..<min(index + 5, bytes.count)]
                guard let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
                    return nil
                }
                units.append(unit)
                index += 4
            default: units.append(UInt16(next))
            }
            index += 1
            plain = index
        }
        flush(min(index, bytes.count))
        index += 1
        return String(decoding: units, as: UTF16.self)
    }
}
