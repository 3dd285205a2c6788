internal import SystemFiles

/// Escape sequences in JSON strings.
package enum JSONEscapes {
    /// Returns the escape sequence whose backslash is at `offset`, or nil if it is malformed. An
    /// unpaired surrogate counts as malformed, because it cannot be represented.
    package static func escape(
        in bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        guard offset + 1 < bytes.count else { return nil }
        switch unsafe bytes[offset + 1] {
        case UInt8(ascii: "\""): return ("\"", 2)
        case UInt8(ascii: "\\"): return ("\\", 2)
        case UInt8(ascii: "/"): return ("/", 2)
        case UInt8(ascii: "b"): return ("\u{08}", 2)
        case UInt8(ascii: "f"): return ("\u{0C}", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        default: break
        }
        guard let first = unsafe unit(in: bytes, at: offset) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard first < 0xDC00, let second = unsafe unit(in: bytes, at: offset + 6),
            (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { return nil }
        return (scalar, 12)
    }

    /// Passes the bytes of a string to `body` with escapes resolved. The escapes must be
    /// well-formed. An unpaired surrogate becomes U+FFFD.
    ///
    /// - Returns: False if there was an unpaired surrogate.
    static func resolve(_ bytes: UnsafeRawBufferPointer, to body: (UInt8) -> Void) -> Bool {
        var isWhole = true
        var offset = 0
        while offset < bytes.count {
            let byte = unsafe bytes[offset]
            guard byte == UInt8(ascii: "\\") else {
                body(byte)
                offset += 1
                continue
            }
            let escape = unsafe escape(in: bytes, at: offset)
            if escape == nil { isWhole = false }
            for byte in (escape?.scalar ?? "\u{FFFD}").utf8 { body(byte) }
            offset += escape?.length ?? 6
        }
        return isWhole
    }

    /// Returns the code unit of the escape `\uXXXX` at `offset`, or nil.
    static func unit(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32? {
        guard bytes.count - offset >= 6, unsafe bytes[offset] == UInt8(ascii: "\\"),
            unsafe bytes[offset + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for place in (offset + 2)..<(offset + 6) {
            guard let digit = Hexadecimal.value(of: unsafe bytes[place]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
