internal import Sealing

/// Line ends of the other kinds.
enum LineEnds: CaseIterable {
    case lineFeeds
    case both

    func write(_ value: RawSpan, to buffer: inout SecretBuffer) throws(SealingError) {
        for place in 0..<value.byteCount {
            let byte = value.byte(at: place)
            let isPair =
                byte == 0x0D && place + 1 < value.byteCount && value.byte(at: place + 1) == 0x0A
            if isPair { continue }
            if byte == 0x0A, self == .both { try buffer.append(0x0D as UInt8) }
            try buffer.append(byte)
        }
    }
}

/// The ways to write a value in UTF-16.
struct WideText {
    /// Line ends that the value does not have itself; nil for its own.
    private let lineEnds: LineEnds?
    /// Whether the upper byte of each unit comes first.
    private let isBigEndian: Bool

    /// Either order of bytes, with line ends of each kind.
    static let all: [WideText] = ([nil] + LineEnds.allCases.map(Optional.some)).flatMap { ends in
        [false, true].map { WideText(lineEnds: ends, isBigEndian: $0) }
    }

    func write(_ value: RawSpan, to buffer: inout SecretBuffer) throws(SealingError) {
        guard let lineEnds else { return try writeUnits(value, to: &buffer) }
        var text = try SecretBuffer(capacity: value.byteCount + 64)
        try lineEnds.write(value, to: &text)
        try text.withBytes { (text) throws(SealingError) in try writeUnits(text, to: &buffer) }
    }

    private func writeUnits(
        _ text: RawSpan, to buffer: inout SecretBuffer
    ) throws(SealingError) {
        var place = 0
        while place < text.byteCount {
            let (scalar, count) = UTF8Text.scalar(text, place)
            for unit in UTF8Text.units(of: scalar) {
                let (upper, lower) = (UInt8(unit >> 8 & 255), UInt8(unit & 255))
                try buffer.append(isBigEndian ? upper : lower)
                try buffer.append(isBigEndian ? lower : upper)
            }
            place += count
        }
    }
}

/// Scalars of UTF-8.
enum UTF8Text {
    /// The one at a place, and its bytes. What is no UTF-8 gives something of no use.
    static func scalar(_ text: RawSpan, _ place: Int) -> (scalar: UInt32, byteCount: Int) {
        let first = UInt32(text.byte(at: place))
        guard first >= 0x80 else { return (first, 1) }
        let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard place + count <= text.byteCount else { return (0xFFFD, 1) }
        var scalar = first & (0x7F >> UInt32(count))
        for next in 1..<count {
            scalar = scalar << 6 | UInt32(text.byte(at: place + next) & 0x3F)
        }
        return (scalar, count)
    }

    /// What a scalar is in UTF-16: one unit or two.
    static func units(of scalar: UInt32) -> [UInt32] {
        scalar < 0x10000 ? [scalar] : [0xD7C0 + (scalar >> 10), 0xDC00 + (scalar & 0x3FF)]
    }
}

/// The ways to write a value into an address or a form.
struct URLEncoding {
    private let kept: Set<UInt8>
    private let blankIsPlus: Bool
    private let digits: [UInt8]

    /// What JavaScript (two), RFC 3986, Python and forms leave as it is, with digits of both cases; and
    /// all bytes written with a percent sign.
    static let all: [URLEncoding] = {
        let plain = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        let rules = [
            ("-_.!~*'()", false), ("-_.!~*'();/?:@&=+$,#", false), ("-_.~", false),
            ("-_.~/", false), ("-_.*", true), ("-_.~", true),
        ].map { (Set(plain + Array($0.0.utf8)), $0.1) }
        return (rules + [([], false)]).flatMap { kept, blankIsPlus in
            ["0123456789ABCDEF", "0123456789abcdef"].map {
                URLEncoding(kept: kept, blankIsPlus: blankIsPlus, digits: Array($0.utf8))
            }
        }
    }()

    func write(_ value: RawSpan, to buffer: inout SecretBuffer) throws(SealingError) {
        for place in 0..<value.byteCount {
            let byte = value.byte(at: place)
            if kept.contains(byte) {
                try buffer.append(byte)
            } else if byte == 0x20, blankIsPlus {
                try buffer.append(0x2B as UInt8)
            } else {
                try buffer.append(0x25 as UInt8)
                try buffer.append(digits[Int(byte >> 4)])
                try buffer.append(digits[Int(byte & 15)])
            }
        }
    }
}

/// The ways to write a value into a text between quotes.
struct TextEscaping {
    /// What is written with a backslash beside line breaks and tabs.
    private let escaped: [UInt8]
    /// What is written by its number beside control characters.
    private let numbered: [UInt8]
    /// Whether that holds for all beyond ASCII.
    private let isASCII: Bool

    /// Line breaks alone; JSON; with `\/`; for pages of HTML; in ASCII; and the shell's double quotes.
    static let all: [TextEscaping] = [
        ("", "", false), ("\"\\", "", false), ("\"\\/", "", false), ("\"\\", "<>&", false),
        ("\"\\", "", true), ("\"\\/", "", true), ("\"\\$`", "", false), ("'\\", "", false),
    ].map {
        TextEscaping(escaped: Array($0.0.utf8), numbered: Array($0.1.utf8), isASCII: $0.2)
    }

    func write(_ value: RawSpan, to buffer: inout SecretBuffer) throws(SealingError) {
        var place = 0
        while place < value.byteCount {
            let byte = value.byte(at: place)
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
            } else if byte < 0x20 || numbered.contains(byte) {
                try number(UInt32(byte), to: &buffer)
            } else if byte >= 0x80, isASCII {
                let (scalar, count) = UTF8Text.scalar(value, place)
                for unit in UTF8Text.units(of: scalar) { try number(unit, to: &buffer) }
                place += count - 1
            } else {
                try buffer.append(byte)
            }
            place += 1
        }
    }

    private func number(_ unit: UInt32, to buffer: inout SecretBuffer) throws(SealingError) {
        try buffer.append(0x5C as UInt8)
        try buffer.append(0x75 as UInt8)
        for shift in [12, 8, 4, 0] as [UInt32] {
            let digit = UInt8(unit >> shift & 15)
            try buffer.append(digit + (digit < 10 ? 0x30 : 0x57))
        }
    }
}
