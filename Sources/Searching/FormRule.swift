internal import Sealing
internal import SystemFiles

/// An encoding of a value. Together they are the forms that all searches know: `scan` uses all of
/// them, redaction the plain, escaped and base64 ones.
struct FormRule {
    /// How line ends are written.
    enum LineEnds {
        case own
        case lineFeeds
        case both
        /// With a carriage return before every line feed.
        case shown
    }

    /// How everything else is written.
    enum Style {
        case plain
        case utf16(isBigEndian: Bool)
        /// Percent-encoded, except `kept`.
        case percent(kept: [UInt8], blankIsPlus: Bool, isUpper: Bool)
        /// With a backslash before `escaped`; `numbered`, and with `inASCII` all non-ASCII, as `\u`
        /// escapes.
        case backslash(escaped: [UInt8], numbered: [UInt8], inASCII: Bool)
    }

    let form: ValueForm
    let style: Style
    var lineEnds = LineEnds.own

    /// As a terminal shows it.
    static let shown = FormRule(form: .plain, style: .plain, lineEnds: .shown)

    /// All forms except base64, for which line breaks are irrelevant.
    static let all: [FormRule] = lines + wide + escaped + addresses

    private static let lines = [LineEnds.own, .lineFeeds, .both].map {
        FormRule(form: .plain, style: .plain, lineEnds: $0)
    }

    private static let wide = lines.flatMap { line in
        [false, true].map {
            FormRule(form: .utf16, style: .utf16(isBigEndian: $0), lineEnds: line.lineEnds)
        }
    }

    /// Only line breaks; JSON; JSON with `\/`; JSON for HTML pages; ASCII JSON (two); shell double
    /// quotes; single quotes.
    static let escaped = [
        ("", "", false), ("\"\\", "", false), ("\"\\/", "", false), ("\"\\", "<>&", false),
        ("\"\\", "", true), ("\"\\/", "", true), ("\"\\$`", "", false), ("'\\", "", false),
    ].map {
        FormRule(
            form: .escaped,
            style: .backslash(escaped: Array($0.utf8), numbered: Array($1.utf8), inASCII: $2))
    }

    /// The characters that JavaScript (two functions), RFC 3986, Python and forms do not encode,
    /// with digits in both cases; and everything encoded.
    private static let addresses = [
        (words + "-_.!~*'()", false), (words + "-_.!~*'();/?:@&=+$,#", false),
        (words + "-_.~", false), (words + "-_.~/", false), (words + "-_.*", true),
        (words + "-_.~", true), ("", false),
    ].flatMap { kept, blankIsPlus in
        [true, false].map {
            FormRule(
                form: .urlEncoded,
                style: .percent(kept: Array(kept.utf8), blankIsPlus: blankIsPlus, isUpper: $0))
        }
    }

    fileprivate static let words = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    // MARK: Writing

    func write(_ value: RawSpan, to buffer: inout SecretBuffer) throws(SealingError) {
        var place = 0
        while place < value.byteCount {
            let (scalar, count) = Self.scalar(value, place)
            let bytes = value.extracting(place..<place + count)
            place += count
            switch (lineEnds, scalar) {
            case (.lineFeeds, "\r"), (.both, "\r"):
                if place < value.byteCount, value.byte(at: place) == 0x0A { continue }
            case (.both, "\n"), (.shown, "\n"):
                try [0x0D].withBytes { (mark) throws(SealingError) in
                    try write("\r", mark, to: &buffer)
                }
            default: break
            }
            try write(scalar, bytes, to: &buffer)
        }
    }

    /// Returns the scalar at an index and its length. Invalid UTF-8 counts as U+FFFD, one byte.
    private static func scalar(_ text: RawSpan, _ place: Int) -> (Unicode.Scalar, byteCount: Int) {
        let first = UInt32(text.byte(at: place))
        let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0x80 ? 2 : 1
        var scalar = count == 1 ? first : first & (0x7F >> UInt32(count))
        for next in place + 1..<place + count {
            guard next < text.byteCount, text.byte(at: next) & 0xC0 == 0x80 else {
                return ("\u{FFFD}", 1)
            }
            scalar = scalar << 6 | UInt32(text.byte(at: next) & 0x3F)
        }
        return (Unicode.Scalar(scalar) ?? "\u{FFFD}", count)
    }

    private func write(
        _ scalar: Unicode.Scalar, _ bytes: RawSpan, to buffer: inout SecretBuffer
    ) throws(SealingError) {
        switch style {
        case .plain: try buffer.append(bytes)
        case .utf16(let isBigEndian):
            for unit in scalar.utf16 {
                try buffer.append(UInt8(unit >> (isBigEndian ? 8 : 0) & 255))
                try buffer.append(UInt8(unit >> (isBigEndian ? 0 : 8) & 255))
            }
        case .percent(let kept, let blankIsPlus, let isUpper):
            for place in 0..<bytes.byteCount {
                let byte = bytes.byte(at: place)
                if kept.contains(byte) {
                    try buffer.append(byte)
                } else if byte == 0x20, blankIsPlus {
                    try buffer.append(0x2B as UInt8)
                } else {
                    try buffer.append(0x25 as UInt8)
                    try Self.write(UInt32(byte), digits: 2, isUpper, to: &buffer)
                }
            }
        case .backslash(let escaped, let numbered, let inASCII):
            let byte = bytes.byte(at: 0)
            let letter: UInt8? =
                switch byte {
                case 0x08: 0x62
                case 0x09: 0x74
                case 0x0A: 0x6E
                case 0x0C: 0x66
                case 0x0D: 0x72
                default: escaped.contains(byte) ? byte : nil
                }
            if let letter {
                try buffer.append(0x5C as UInt8)
                try buffer.append(letter)
            } else if byte < 0x20 || numbered.contains(byte) || inASCII && byte >= 0x80 {
                for unit in scalar.utf16 {
                    try buffer.append(0x5C as UInt8)
                    try buffer.append(0x75 as UInt8)
                    try Self.write(UInt32(unit), digits: 4, false, to: &buffer)
                }
            } else {
                try buffer.append(bytes)
            }
        }
    }

    private static func write(
        _ number: UInt32, digits: UInt32, _ isUpper: Bool, to buffer: inout SecretBuffer
    ) throws(SealingError) {
        for place in (0..<digits).reversed() {
            let digit = UInt8(number >> (4 * place) & 15)
            try buffer.append(Hexadecimal.digit(digit, isUpper: isUpper))
        }
    }
}

/// The base64 encoding of a value at any position in the encoded data.
enum Base64Form {
    /// Writes the characters that depend only on the value, if `offset` bytes of a group of three
    /// precede it, in the alphabet with `+` and `/`.
    ///
    /// - Returns: Whether the last character depends on the next byte.
    static func write(
        _ value: RawSpan, after offset: Int, to buffer: inout SecretBuffer
    ) throws(SealingError) -> Bool {
        let bits = 8 * (offset + value.byteCount)
        let (first, letters) = ((8 * offset + 5) / 6, Self.letters)
        let count = (bits + 5) / 6 - first
        try buffer.reserve(count)
        _ = buffer.appendWritten(limit: count) { target in
            for place in 0..<count {
                let bit = 6 * (first + place) - 8 * offset
                let index = bit / 8
                let high = UInt32(value.byte(at: index)) << 8
                let low = index + 1 < value.byteCount ? UInt32(value.byte(at: index + 1)) : 0
                let digit = Int((high | low) >> UInt32(10 - bit % 8) & 63)
                target.storeBytes(of: letters[digit], toByteOffset: place, as: UInt8.self)
            }
            return count
        }
        return bits % 6 != 0
    }

    private static let letters = Array((FormRule.words + "+/").utf8)
}
