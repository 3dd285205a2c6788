internal import Sealing

/// Decodes the surroundings of base64 that is wrapped, indented, or embedded in JSON or URLs: byte
/// by byte, forwards and backwards. Skips separators, and maps both alphabets to the one with `+`
/// and `/`.
enum LooseText {
    /// One step: the byte read, if any, and where to continue.
    typealias Unit = (byte: UInt8?, next: Int)

    /// Reads forwards from `place`.
    static func forward(_ text: RawSpan, _ place: Int) -> Unit {
        let byte = text.byte(at: place)
        if isBlank(byte) { return (nil, place + 1) }
        if byte == 0x5C {
            let isBreak = place + 1 < text.byteCount && isLetterOfBreak(text.byte(at: place + 1))
            return (nil, place + (isBreak ? 2 : 1))
        }
        if byte == 0x25, let written = percent(text, place) {
            return (written == 0 ? nil : written, place + 3)
        }
        return (standard(byte), place + 1)
    }

    /// Reads the unit that ends before `place`; the next step continues before its `next`.
    static func backward(_ text: RawSpan, _ place: Int) -> Unit {
        let byte = text.byte(at: place - 1)
        if isBlank(byte) || byte == 0x5C { return (nil, place - 1) }
        if place >= 2, text.byte(at: place - 2) == 0x5C, isLetterOfBreak(byte) {
            return (nil, place - 2)
        }
        if place >= 3, text.byte(at: place - 3) == 0x25, let written = percent(text, place - 3) {
            return (written == 0 ? nil : written, place - 3)
        }
        return (standard(byte), place - 1)
    }

    /// Whether a byte is whitespace, which is trimmed from values and ignored in base64.
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Whether a byte can occur in base64 of the standard alphabet.
    static func isBase64(_ byte: UInt8) -> Bool { Base64.isLetter(byte) || byte == 0x3D }

    /// Maps a character to the URL-safe alphabet.
    static func urlSafe(_ byte: UInt8) -> UInt8 {
        byte == 0x2B ? 0x2D : byte == 0x2F ? 0x5F : byte
    }

    /// Maps a character to the alphabet with `+` and `/`.
    @inline(__always)
    static func standard(_ byte: UInt8) -> UInt8 {
        byte == 0x2D ? 0x2B : byte == 0x5F ? 0x2F : byte
    }

    /// Whether a byte is the letter of `\n`, `\r` or `\t`.
    private static func isLetterOfBreak(_ byte: UInt8) -> Bool {
        byte == 0x6E || byte == 0x72 || byte == 0x74
    }

    /// Decodes a percent-encoded line break or base64 character.
    ///
    /// - Returns: 0 for a line break; nil for anything else.
    private static func percent(_ text: RawSpan, _ place: Int) -> UInt8? {
        guard place + 2 < text.byteCount else { return nil }
        switch (text.byte(at: place + 1), text.byte(at: place + 2) & 0xDF) {
        case (0x30, 0x41), (0x30, 0x44): return 0
        case (0x32, 0x42): return 0x2B
        case (0x32, 0x46): return 0x2F
        case (0x33, 0x44): return 0x3D
        default: return nil
        }
    }
}
