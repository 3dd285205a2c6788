internal import SystemFiles

/// JSON string syntax (RFC 8259, section 7).
package enum JSONText {
    /// Writes valid UTF-8 as a quoted string.
    ///
    /// Besides what JSON requires, escapes everything that controls a terminal, since JSON may be
    /// shown on one. Parsers get the same string either way.
    static func write<Sink: ByteSink & ~Copyable>(
        _ bytes: RawSpan, to sink: inout Sink
    ) throws(OutputError) {
        try write(bytes) { (part) throws(OutputError) in try sink.write(part) }
    }

    /// Passes a quoted string to `body` in parts.
    ///
    /// - Parameter usesPairs: Whether scalars beyond U+FFFF may be escaped, as pairs of surrogates.
    package static func write<Failure: Error>(
        _ bytes: RawSpan, usesPairs: Bool = true, _ body: (RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        func write(_ text: String) throws(Failure) {
            unsafe try body(text.utf8Span.span.bytes)
        }
        try write("\"")
        var start = 0
        var index = 0
        while index < bytes.byteCount {
            // The fast path: most bytes need no decoding.
            if isPlain(bytes, at: index) {
                index += 1
                continue
            }
            let (value, length) = scalar(bytes, at: index)
            if usesPairs || value <= 0xFFFF, let escape = escape(value) {
                try body(bytes.extracting(start..<index))
                try write(escape)
                start = index + length
            }
            index += length
        }
        try body(bytes.extracting(start..<bytes.byteCount))
        try write("\"")
    }

    /// Returns whether a string as it is written, without its quotation marks, has these bytes.
    package static func isEqual(_ written: RawSpan, to bytes: RawSpan) -> Bool {
        unsafe written.withUnsafeBytes { written in
            var place = 0
            var isEqual = unsafe !written.contains { $0 < 0x20 }
            let isWhole = unsafe JSONEscapes.resolve(written) { byte in
                if place >= bytes.byteCount {
                    isEqual = false
                } else if unsafe bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self) != byte {
                    isEqual = false
                }
                place += 1
            }
            return isWhole && isEqual && place == bytes.byteCount
        }
    }

    private static func isPlain(_ bytes: RawSpan, at index: Int) -> Bool {
        let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        return byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
    }

    private static func escape(_ value: UInt32) -> String? {
        switch value {
        case 0x22: return "\\\""
        case 0x5C: return "\\\\"
        case 0x08: return "\\b"
        case 0x09: return "\\t"
        case 0x0A: return "\\n"
        case 0x0C: return "\\f"
        case 0x0D: return "\\r"
        case 0x20..<0x7F: return nil
        default:
            guard let scalar = Unicode.Scalar(value), isUnsafe(scalar) else {
                return nil
            }
            return UTF16.encode(scalar)?.reduce(into: "") { $0 += unit($1) }
        }
    }

    /// Returns whether a scalar controls, hides or reorders terminal output.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
        case 0xFFF9...0xFFFB, 0xFFFE, 0xFFFF, 0xE0000...0xE007F: true
        default: false
        }
    }

    private static func unit(_ unit: UInt16) -> String {
        // Short enough not to be in allocated memory: a value may be written.
        var text = "\\u"
        for shift in [12, 8, 4, 0] {
            let digit = Hexadecimal.digit(UInt8(unit >> shift & 0xF))
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    /// Returns the scalar at an index and its length. A truncated sequence reads as zeros.
    private static func scalar(_ bytes: RawSpan, at index: Int) -> (UInt32, Int) {
        func byte(_ offset: Int) -> UInt32 {
            let at = index + offset
            return at < bytes.byteCount
                ? unsafe UInt32(bytes.unsafeLoad(fromByteOffset: at, as: UInt8.self)) : 0
        }
        let first = byte(0)
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let value =
            switch length {
            case 1: first
            case 2: (first & 0x1F) << 6 | byte(1) & 0x3F
            case 3: (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | byte(2) & 0x3F
            default:
                (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6
                    | byte(3) & 0x3F
            }
        return (value, min(length, bytes.byteCount - index))
    }
}
