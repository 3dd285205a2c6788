import Sealing

/// Base64 (RFC 4648, section 4) between secret memory and secret memory.
///
/// One valid form only: padded, without line breaks, unused bits zero. The characters are computed,
/// not looked up in a table, so that no memory access depends on the secret.
enum Base64Text {
    /// Longest text that is taken in: nothing that belongs in a keyring is near it.
    static let longestText = 65_536

    /// The text of `bytes`.
    static func encoded(_ bytes: RawSpan) throws(SealingError) -> SecretBytes {
        let groups = (bytes.byteCount + 2) / 3
        var text = try SecretBytes(count: groups * 4)
        text.withMutableBytes { target in
            for group in 0..<groups {
                let start = group * 3
                let present = min(3, bytes.byteCount - start)
                var bits: UInt32 = 0
                for offset in 0..<3 {
                    let byte = offset < present ? bytes.byte(at: start + offset) : 0
                    bits = bits << 8 | UInt32(byte)
                }
                for offset in 0..<4 {
                    let sextet = UInt8(truncatingIfNeeded: bits >> (18 - 6 * offset)) & 63
                    target.storeBytes(
                        of: offset <= present ? character(of: sextet) : 0x3d,
                        toByteOffset: group * 4 + offset, as: UInt8.self)
                }
            }
        }
        return text
    }

    /// The bytes of `text`, or nil when it is not the one valid form, or too long.
    static func decoded(_ text: RawSpan) throws(SealingError) -> SecretBytes? {
        let length = text.byteCount
        guard length % 4 == 0, length <= longestText else { return nil }
        if length == 0 { return try SecretBytes(count: 0) }
        let padding =
            text.byte(at: length - 1) != 0x3d ? 0 : text.byte(at: length - 2) != 0x3d ? 1 : 2
        let count = length / 4 * 3 - padding
        var bytes = try SecretBytes(count: count)
        let isValid = bytes.withMutableBytes { target in
            var invalid: UInt32 = 0
            for group in 0..<(length / 4) {
                var bits: UInt32 = 0
                for offset in (group * 4)..<(group * 4 + 4) {
                    let sextet =
                        offset < length - padding ? sextet(of: text.byte(at: offset)) : 0
                    invalid |= sextet >> 8
                    bits = bits << 6 | (sextet & 63)
                }
                for offset in 0..<3 {
                    let byte = UInt8(truncatingIfNeeded: bits >> (16 - 8 * offset))
                    let position = group * 3 + offset
                    if position < count {
                        target.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
                    } else {
                        invalid |= UInt32(byte)
                    }
                }
            }
            return invalid == 0
        }
        guard isValid else { return nil }
        return consume bytes
    }

    /// All ones when `value` is in `range`, else zero. Both ends are below 256.
    private static func mask(_ value: UInt32, in range: ClosedRange<UInt32>) -> UInt32 {
        let outside = (value &- range.lowerBound) | (range.upperBound &- value)
        return (outside >> 31) &- 1
    }

    private static func character(of sextet: UInt8) -> UInt8 {
        let value = UInt32(sextet)
        let character =
            mask(value, in: 0...25) & (value &+ 65) | mask(value, in: 26...51) & (value &+ 71)
            | mask(value, in: 52...61) & (value &- 4) | mask(value, in: 62...62) & 43
            | mask(value, in: 63...63) & 47
        return UInt8(truncatingIfNeeded: character)
    }

    /// The six bits of a character; 256 when it is none of the alphabet.
    private static func sextet(of character: UInt8) -> UInt32 {
        let value = UInt32(character)
        let upper = mask(value, in: 65...90)
        let lower = mask(value, in: 97...122)
        let digit = mask(value, in: 48...57)
        let plus = mask(value, in: 43...43)
        let slash = mask(value, in: 47...47)
        return upper & (value &- 65) | lower & (value &- 71) | digit & (value &+ 4) | plus & 62
            | slash & 63 | ~(upper | lower | digit | plus | slash) & 256
    }
}
