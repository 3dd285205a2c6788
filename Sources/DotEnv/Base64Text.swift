/// Base64 with padding (RFC 4648, section 4), without table lookups that depend on values.
enum Base64Text {
    static func write(_ value: SourceText, into sink: inout some ByteSink & ~Copyable) {
        var index = 0
        while index < value.count {
            let rest = value.count - index
            let group =
                UInt32(value[index]) << 16
                | (rest > 1 ? UInt32(value[index + 1]) << 8 : 0)
                | (rest > 2 ? UInt32(value[index + 2]) : 0)
            for position in 0..<4 {
                sink.append(
                    position <= rest
                        ? digit(UInt8(truncatingIfNeeded: group >> (18 - 6 * position)) & 0x3F)
                        : Byte.equals)
            }
            index += 3
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: value + 0x41
        case 26..<52: value + 0x47
        case 52..<62: value - 4
        case 62: 0x2B
        default: 0x2F
        }
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit - 0x41)
        case 0x61...0x7A: UInt32(digit - 0x47)
        case 0x30...0x39: UInt32(digit + 4)
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }

    /// Compares the encoding at `index` with that of `expected`. Returns the index after it, or
    /// nil.
    static func end(
        _ text: SourceText, at index: Int, ifEqualTo expected: SourceText
    ) -> Int? {
        var position = index
        var matched = 0
        while matched < expected.count {
            var group: UInt32 = 0
            let rest = min(3, expected.count - matched)
            for offset in 0..<4 {
                let digit = text[position + offset]
                if offset <= rest {
                    guard let value = value(of: digit) else { return nil }
                    group |= value << (18 - 6 * UInt32(offset))
                } else if digit != Byte.equals {
                    return nil
                }
            }
            for offset in 0..<rest {
                let byte = UInt8(truncatingIfNeeded: group >> (16 - 8 * UInt32(offset)))
                guard byte == expected[matched + offset] else { return nil }
            }
            matched += rest
            position += 4
        }
        return position
    }
}
