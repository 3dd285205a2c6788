/// A string in double quotes that means the same in JSON and in YAML.
///
/// Escapes what JSON requires, and what YAML or JavaScript reject: U+007F to U+009F, U+2028,
/// U+2029, U+FEFF, U+FFFE and U+FFFF.
enum QuotedString {
    /// - Parameter value: Must be UTF-8.
    static func write(_ value: SourceText, into sink: inout some ByteSink & ~Copyable) {
        sink.append(Byte.doubleQuote)
        var start = 0
        var index = 0
        while index < value.count {
            let (width, unit) = escapedUnit(value, index)
            guard width > 0 else {
                index += 1
                continue
            }
            value.copy(start..<index, into: &sink)
            writeEscape(unit, into: &sink)
            index += width
            start = index
        }
        value.copy(start..<value.count, into: &sink)
        sink.append(Byte.doubleQuote)
    }

    /// Returns the character at `index` with its width if it must be escaped; otherwise a width of
    /// 0.
    private static func escapedUnit(_ value: SourceText, _ index: Int) -> (Int, UInt16) {
        let byte = value[index]
        if byte < 0x20 || byte == 0x7F || byte == Byte.doubleQuote || byte == Byte.backslash {
            return (1, UInt16(byte))
        }
        let second = value[index + 1]
        let third = value[index + 2]
        switch (byte, second, third) {
        case (0xC2, 0x80...0x9F, _): return (2, UInt16(second))
        case (0xE2, 0x80, 0xA8), (0xE2, 0x80, 0xA9): return (3, 0x2000 | UInt16(third & 0x3F))
        case (0xEF, 0xBB, 0xBF): return (3, 0xFEFF)
        case (0xEF, 0xBF, 0xBE), (0xEF, 0xBF, 0xBF): return (3, 0xFFC0 | UInt16(third & 0x3F))
        default: return (0, 0)
        }
    }

    private static func writeEscape(_ unit: UInt16, into sink: inout some ByteSink & ~Copyable) {
        sink.append(Byte.backslash)
        switch unit {
        case 0x08: sink.append(UInt8(ascii: "b"))
        case 0x09: sink.append(UInt8(ascii: "t"))
        case 0x0A: sink.append(UInt8(ascii: "n"))
        case 0x0C: sink.append(UInt8(ascii: "f"))
        case 0x0D: sink.append(UInt8(ascii: "r"))
        case 0x22, 0x5C: sink.append(UInt8(truncatingIfNeeded: unit))
        default:
            sink.append(UInt8(ascii: "u"))
            for shift in [12, 8, 4, 0] {
                let digit = UInt8(truncatingIfNeeded: unit >> shift) & 0x0F
                sink.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        }
    }

    /// Compares the quoted string at `index` with `expected`. Returns the index after the closing
    /// quote, or nil.
    static func end(
        _ text: SourceText, at index: Int, ifEqualTo expected: SourceText
    ) -> Int? {
        guard text[index] == Byte.doubleQuote else { return nil }
        var position = index + 1
        var matched = 0
        func match(_ byte: UInt8) -> Bool {
            guard matched < expected.count, expected[matched] == byte else { return false }
            matched += 1
            return true
        }
        while position < text.count, text[position] != Byte.doubleQuote {
            if text[position] != Byte.backslash {
                guard text[position] >= 0x20, match(text[position]) else { return nil }
                position += 1
                continue
            }
            guard let (unit, width) = unit(text, position + 1) else { return nil }
            position += 1 + width
            if unit < 0x80 {
                guard match(UInt8(truncatingIfNeeded: unit)) else { return nil }
            } else if unit < 0x800 {
                guard match(0xC0 | UInt8(truncatingIfNeeded: unit >> 6)),
                    match(0x80 | UInt8(truncatingIfNeeded: unit & 0x3F))
                else { return nil }
            } else {
                // Surrogates are never written, as nothing beyond U+FFFF is escaped.
                guard unit & 0xF800 != 0xD800,
                    match(0xE0 | UInt8(truncatingIfNeeded: unit >> 12)),
                    match(0x80 | UInt8(truncatingIfNeeded: (unit >> 6) & 0x3F)),
                    match(0x80 | UInt8(truncatingIfNeeded: unit & 0x3F))
                else { return nil }
            }
        }
        return position < text.count && matched == expected.count ? position + 1 : nil
    }

    /// Returns the character of the escape whose letter is at `index`, and its width.
    private static func unit(_ text: SourceText, _ index: Int) -> (UInt16, Int)? {
        switch text[index] {
        case UInt8(ascii: "b"): return (0x08, 1)
        case UInt8(ascii: "t"): return (0x09, 1)
        case UInt8(ascii: "n"): return (0x0A, 1)
        case UInt8(ascii: "f"): return (0x0C, 1)
        case UInt8(ascii: "r"): return (0x0D, 1)
        case Byte.doubleQuote, Byte.backslash: return (UInt16(text[index]), 1)
        case UInt8(ascii: "u"):
            var unit: UInt16 = 0
            for offset in 1...4 {
                let byte = text[index + offset]
                let letter = (byte | 0x20) &- 0x61
                if byte &- 0x30 < 10 {
                    unit = unit << 4 | UInt16(byte &- 0x30)
                } else if letter < 6 {
                    unit = unit << 4 | UInt16(letter + 10)
                } else {
                    return nil
                }
            }
            return (unit, 5)
        default: return nil
        }
    }
}
