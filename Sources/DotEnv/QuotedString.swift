internal import JSON
internal import SystemFiles

/// A string in double quotes that means the same in JSON and in YAML.
enum QuotedString {
    /// - Parameter value: Must be UTF-8.
    static func write(_ value: SourceText, into sink: inout some ByteSink & ~Copyable) {
        unsafe value.withBytes(0..<value.count) { bytes in
            // YAML has no surrogate pairs.
            unsafe JSONText.write(bytes.bytes, usesPairs: false) { sink.append(contentsOf: $0) }
        }
    }

    /// Returns the meaning of the backslash at `index` in double quotes of JSON or YAML, and the length
    /// of the escape; nil if it is malformed. JSON has fewer escapes, which its parser checks.
    static func escape(
        _ text: SourceText, at index: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        switch text[index + 1] {
        case UInt8(ascii: "0"): return ("\0", 2)
        case UInt8(ascii: "a"): return ("\u{07}", 2)
        case UInt8(ascii: "v"): return ("\u{0B}", 2)
        case UInt8(ascii: "e"): return ("\u{1B}", 2)
        case Byte.space: return (" ", 2)
        case Byte.tab: return ("\t", 2)
        case UInt8(ascii: "N"): return ("\u{85}", 2)
        case UInt8(ascii: "_"): return ("\u{A0}", 2)
        case UInt8(ascii: "L"): return ("\u{2028}", 2)
        case UInt8(ascii: "P"): return ("\u{2029}", 2)
        case UInt8(ascii: "x"): return scalar(text, at: index, digits: 2)
        case UInt8(ascii: "U"): return scalar(text, at: index, digits: 8)
        default:
            return unsafe text.withBytes(index..<max(index, text.count)) { bytes in
                unsafe JSONEscapes.escape(in: bytes, at: 0)
            }
        }
    }

    private static func scalar(
        _ text: SourceText, at index: Int, digits: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        var value: UInt32 = 0
        for place in index + 2..<index + 2 + digits {
            guard let digit = Hexadecimal.value(of: text[place]) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return Unicode.Scalar(value).map { ($0, 2 + digits) }
    }

    /// Compares the quoted string at `index` with `expected`. Returns the index after the closing
    /// quote, or nil.
    static func end(
        _ text: SourceText, at index: Int, ifEqualTo expected: SourceText
    ) -> Int? {
        guard text[index] == Byte.doubleQuote else { return nil }
        var close = index + 1
        while close < text.count, text[close] != Byte.doubleQuote {
            close += text[close] == Byte.backslash ? 2 : 1
        }
        guard close < text.count else { return nil }
        let isEqual = unsafe text.withBytes(index + 1..<close) { written in
            unsafe expected.withBytes(0..<expected.count) { value in
                unsafe JSONText.isEqual(written.bytes, to: value.bytes)
            }
        }
        return isEqual ? close + 1 : nil
    }
}
