package import Sealing

/// A text inside of JSON: where it is, and how long it is once its escapes are resolved.
///
/// Only ``JSONScanner`` makes one, after it has checked the bytes.
package struct JSONText {
    /// The bytes between the quotation marks.
    let range: Range<Int>
    /// The number of UTF-8 bytes it stands for.
    package let decodedCount: Int

    /// Copies the text, escapes resolved, into `arena`.
    package func copy(
        from bytes: RawSpan, into arena: SecretArena
    ) throws(JSONScanner.Problem) -> SecretSlice {
        let slice: SecretSlice
        do throws(SealingError) {
            slice = try arena.allocate(count: decodedCount)
        } catch {
            throw .outOfMemory
        }
        slice.withMutableBytes { target in
            var place = 0
            forEachByte(in: bytes) { byte in
                guard place < target.byteCount else { return }
                target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
                place += 1
            }
        }
        return slice
    }

    /// The text as a `String`: for names, never for values.
    package func name(in bytes: RawSpan) -> String {
        var name: [UInt8] = []
        name.reserveCapacity(decodedCount)
        forEachByte(in: bytes) { name.append($0) }
        return String(decoding: name, as: UTF8.self)
    }

    /// Whether the text is `other`.
    package func equals(_ other: String, in bytes: RawSpan) -> Bool {
        decodedCount == other.utf8.count && name(in: bytes).utf8.elementsEqual(other.utf8)
    }

    private func forEachByte(in bytes: RawSpan, _ body: (UInt8) -> Void) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let byte = bytes.byte(at: offset)
            if byte == UInt8(ascii: "\\"), let escape = Self.escape(in: bytes, at: offset) {
                for byte in escape.scalar.utf8 { body(byte) }
                offset += escape.length
            } else {
                body(byte)
                offset += 1
            }
        }
    }

    /// The escape whose backslash is at `offset`; nil if it is malformed, such as half of a
    /// surrogate pair.
    static func escape(
        in bytes: RawSpan, at offset: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        guard bytes.byteCount - offset >= 2 else { return nil }
        switch bytes.byte(at: offset + 1) {
        case UInt8(ascii: "\""): return ("\"", 2)
        case UInt8(ascii: "\\"): return ("\\", 2)
        case UInt8(ascii: "/"): return ("/", 2)
        case UInt8(ascii: "b"): return ("\u{08}", 2)
        case UInt8(ascii: "f"): return ("\u{0C}", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case UInt8(ascii: "u"): break
        default: return nil
        }
        guard let first = codeUnit(in: bytes, at: offset) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard (0xD800...0xDBFF).contains(first), let second = codeUnit(in: bytes, at: offset + 6),
            (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { return nil }
        return (scalar, 12)
    }

    /// The number in the six bytes `\uXXXX` at `offset`.
    static func codeUnit(in bytes: RawSpan, at offset: Int) -> UInt32? {
        guard bytes.byteCount - offset >= 6, bytes.byte(at: offset) == UInt8(ascii: "\\"),
            bytes.byte(at: offset + 1) == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for place in 2..<6 {
            guard let digit = hexadecimalDigit(bytes.byte(at: offset + place)) else { return nil }
            unit = unit << 4 | digit
        }
        return unit
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
