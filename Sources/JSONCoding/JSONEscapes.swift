/// What a backslash in a text of JSON stands for.
package enum JSONEscapes {
    /// The escape whose backslash is at `offset`; nil where it is malformed, as half of a surrogate
    /// pair is: the text would not be what was written.
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

    /// The text with its escapes resolved. They were found well-formed before.
    static func resolved(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var resolved: [UInt8] = []
        resolved.reserveCapacity(bytes.count)
        var offset = 0
        while offset < bytes.count {
            let byte = unsafe bytes[offset]
            if byte == UInt8(ascii: "\\"), let escape = unsafe escape(in: bytes, at: offset) {
                resolved += escape.scalar.utf8
                offset += escape.length
            } else {
                resolved.append(byte)
                offset += 1
            }
        }
        return resolved
    }

    /// The number in the six bytes `\uXXXX` at `offset`; nil for anything else there.
    package static func unit(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32? {
        guard bytes.count - offset >= 6, unsafe bytes[offset] == UInt8(ascii: "\\"),
            unsafe bytes[offset + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for place in (offset + 2)..<(offset + 6) {
            let byte = unsafe bytes[place]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                unit = unit << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                unit = unit << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                unit = unit << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return unit
    }
}
