/// A text with or without quotes.
struct SpecText: Equatable {
    enum Quote {
        case none, single, double, backtick
        /// Three quotes or backticks.
        case triple
    }

    /// What a text without quotes stands for.
    enum Form {
        case text, number, flag(Bool), undefined
    }

    /// Without the quotes; of the escapes, only those of the quote itself are resolved.
    var content: String
    var quote: Quote

    var form: Form {
        guard quote == .none else { return .text }
        switch content {
        case "true": return .flag(true)
        case "false": return .flag(false)
        case "undefined", "": return .undefined
        default: return content.isPlainDecimal ? .number : .text
        }
    }

    /// The text with all escapes resolved.
    var resolved: String {
        guard quote != .single, content.utf8.contains(UInt8(ascii: "\\")) else { return content }
        let resolvesLineFeeds = quote == .double || quote == .backtick
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content.utf8.count)
        for byte in content.utf8 {
            switch byte {
            case UInt8(ascii: "$") where bytes.last == UInt8(ascii: "\\"):
                bytes[bytes.count - 1] = byte
            case UInt8(ascii: "n") where resolvesLineFeeds && bytes.last == UInt8(ascii: "\\"):
                bytes[bytes.count - 1] = UInt8(ascii: "\n")
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The function that the text stands for, because it contains `$KEY`, `${KEY}` or `$(…)`.
    var reference: SpecReference? {
        guard quote != .single, content.utf8.contains(UInt8(ascii: "$")) else { return nil }
        return SpecReference(in: Array(content.utf8))
    }
}

extension String {
    /// Whether JavaScript writes the number that it reads here in the same way, without an exponent
    /// and exactly. Anything else, such as `007`, `1.50` or `1e5`, is text to the other tool.
    var isPlainDecimal: Bool {
        var digits = utf8[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits = digits.dropFirst() }
        guard !digits.isEmpty, digits.count <= 32 else { return false }
        let whole = digits.prefix { $0.isDigit }
        let rest = digits.dropFirst(whole.count)
        guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1 else {
            return false
        }
        guard let point = rest.first else {
            guard let number = UInt64(String(decoding: whole, as: UTF8.self)) else {
                return false
            }
            return number <= 9_007_199_254_740_991 && !(isNegative && number == 0)
        }
        let fraction = rest.dropFirst()
        guard point == UInt8(ascii: "."), let last = fraction.last, last != UInt8(ascii: "0"),
            fraction.allSatisfy(\.isDigit), let number = Double(self),
            number.magnitude >= 0.000_001, number.magnitude <= 9_007_199_254_740_991
        else { return false }
        // The shortest digits that give the number back are the same in every language.
        return Self.significantDigits(of: self) == Self.significantDigits(of: "\(number)")
    }

    private static func significantDigits(of number: String) -> [UInt8] {
        let mantissa = number.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let digits = mantissa.filter(\.isDigit).drop { $0 == UInt8(ascii: "0") }
        return digits.reversed().drop { $0 == UInt8(ascii: "0") }.reversed()
    }
}
