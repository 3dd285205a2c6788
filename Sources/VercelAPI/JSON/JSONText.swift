internal import JSONCoding
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
        unsafe bytes.withUnsafeBytes { unsafe JSONEscapes.escape(in: $0, at: offset) }
    }

    /// The number in the six bytes `\uXXXX` at `offset`.
    static func codeUnit(in bytes: RawSpan, at offset: Int) -> UInt32? {
        unsafe bytes.withUnsafeBytes { unsafe JSONEscapes.unit(in: $0, at: offset) }
    }
}
