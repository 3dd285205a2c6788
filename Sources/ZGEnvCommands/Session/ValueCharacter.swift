internal import CommandLineKit
internal import Sealing
internal import SystemFiles

/// A character of a value, as a terminal shows it: control characters and invalid UTF-8 become
/// hexadecimal escapes.
struct ValueCharacter {
    /// nil for a byte of invalid UTF-8.
    let scalar: Unicode.Scalar?
    /// The number of bytes in the value.
    let length: Int
    /// The number of columns on the terminal.
    let width: Int
    private let place: Int
    private let isPlain: Bool

    /// Reads the character at an offset within `bytes`.
    init(_ bytes: RawSpan, at place: Int) {
        self.place = place
        (scalar, length) = Self.scalar(bytes, place)
        let shown = scalar.flatMap { DisplayText.width(ofSafe: $0) }
        isPlain = shown != nil
        width = shown ?? 4 * length
    }

    /// Appends the characters to show.
    func append(to box: SecretBox, from bytes: RawSpan) throws(SealingError) {
        for offset in place..<(place + length) {
            let byte = bytes.byte(at: offset)
            if isPlain {
                try box.append(byte)
            } else {
                try box.append(0x5C)
                try box.append(0x78)
                try box.append(Hexadecimal.digit(byte >> 4, isUpper: true))
                try box.append(Hexadecimal.digit(byte & 15, isUpper: true))
            }
        }
    }

    /// Returns the character at an offset and its length; nil and 1 for invalid UTF-8.
    private static func scalar(_ bytes: RawSpan, _ place: Int) -> (Unicode.Scalar?, Int) {
        let first = bytes.byte(at: place)
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        if length == 1 { return (Unicode.Scalar(first), 1) }
        guard first >= 0xC2, first < 0xF5, place + length <= bytes.byteCount else {
            return (nil, 1)
        }
        var number = UInt32(first) & (0x7F >> UInt32(length))
        for offset in 1..<length {
            let byte = bytes.byte(at: place + offset)
            guard byte & 0xC0 == 0x80 else { return (nil, 1) }
            number = number << 6 | UInt32(byte & 0x3F)
        }
        let least: [UInt32] = [0, 0, 0x80, 0x800, 0x10000]
        guard number >= least[length], let scalar = Unicode.Scalar(number) else { return (nil, 1) }
        return (scalar, length)
    }
}
