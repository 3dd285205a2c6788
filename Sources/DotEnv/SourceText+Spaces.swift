enum Byte {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let doubleQuote: UInt8 = 0x22
    static let hash: UInt8 = 0x23
    static let dollar: UInt8 = 0x24
    static let singleQuote: UInt8 = 0x27
    static let colon: UInt8 = 0x3A
    static let equals: UInt8 = 0x3D
    static let backslash: UInt8 = 0x5C
    static let backtick: UInt8 = 0x60
    static let leftBrace: UInt8 = 0x7B
    static let rightBrace: UInt8 = 0x7D
}

/// The definitions of whitespace in the parsers' languages.
enum SpaceSet {
    /// `\s` and `trim()` of ECMAScript: with line terminators and U+FEFF, without U+0085.
    case ecmaScript
    /// `unicode.IsSpace` of Go: with U+0085, without U+FEFF.
    case go
    /// `str.isspace` of Python: as Go, with U+001C to U+001F.
    case python
}

extension SourceText {
    /// Returns the width in bytes of the whitespace character at `index`; 0 for others.
    @inline(__always)
    func spaceWidth(at index: Int, _ set: SpaceSet = .ecmaScript) -> Int {
        let byte = self[index]
        if byte > Byte.space && byte < 0x80 { return 0 }
        if byte == Byte.space || (byte >= 0x09 && byte <= 0x0D) { return 1 }
        if byte < 0x80 { return set == .python && byte >= 0x1C && byte <= 0x1F ? 1 : 0 }
        return wideSpaceWidth(at: index, set)
    }

    private func wideSpaceWidth(at index: Int, _ set: SpaceSet) -> Int {
        switch self[index] {
        case 0xC2:
            let second = self[index + 1]
            return second == 0xA0 || (second == 0x85 && set != .ecmaScript) ? 2 : 0
        case 0xE1:
            return self[index + 1] == 0x9A && self[index + 2] == 0x80 ? 3 : 0
        case 0xE2:
            let second = self[index + 1]
            let third = self[index + 2]
            if second == 0x80 {
                let isSpace =
                    (third >= 0x80 && third <= 0x8A) || third == 0xA8 || third == 0xA9
                    || third == 0xAF
                return isSpace ? 3 : 0
            }
            return second == 0x81 && third == 0x9F ? 3 : 0
        case 0xE3:
            return self[index + 1] == 0x80 && self[index + 2] == 0x80 ? 3 : 0
        case 0xEF:
            return set == .ecmaScript && self[index + 1] == 0xBB && self[index + 2] == 0xBF ? 3 : 0
        default:
            return 0
        }
    }

    /// Returns the first index from `start` on that is not whitespace, at most `end`.
    @inline(__always)
    func skippingSpaces(from start: Int, to end: Int, _ set: SpaceSet = .ecmaScript) -> Int {
        var index = start
        while index < end {
            let width = spaceWidth(at: index, set)
            if width == 0 { break }
            index += width
        }
        return min(index, max(start, end))
    }

    /// Returns the end of `start..<end` without trailing whitespace.
    func trimmingSpaces(from start: Int, to end: Int, _ set: SpaceSet = .ecmaScript) -> Int {
        var index = end
        while index > start {
            let byte = self[index - 1]
            if byte < 0x80 {
                if spaceWidth(at: index - 1, set) == 0 { break }
                index -= 1
            } else if index - 2 >= start, spaceWidth(at: index - 2, set) == 2 {
                index -= 2
            } else if index - 3 >= start, spaceWidth(at: index - 3, set) == 3 {
                index -= 3
            } else {
                break
            }
        }
        return index
    }

    /// Returns the width in bytes of the ECMAScript line terminator at `index`; 0 for others.
    @inline(__always)
    func lineTerminatorWidth(at index: Int) -> Int {
        let byte = self[index]
        if byte == Byte.lineFeed || byte == Byte.carriageReturn { return 1 }
        return byte == 0xE2 ? separatorWidth(at: index) : 0
    }

    /// Returns 3 for U+2028 or U+2029 at `index`, otherwise 0.
    func separatorWidth(at index: Int) -> Int {
        guard self[index] == 0xE2, self[index + 1] == 0x80 else { return 0 }
        let third = self[index + 2]
        return third == 0xA8 || third == 0xA9 ? 3 : 0
    }

    /// Returns the next ECMAScript line terminator from `start` on, or the end.
    @inline(__always)
    func lineTerminator(from start: Int) -> Int {
        var index = start
        while index < count {
            let byte = self[index]
            if byte == Byte.lineFeed || byte == Byte.carriageReturn { break }
            if byte == 0xE2, separatorWidth(at: index) > 0 { break }
            index += 1
        }
        return index
    }

    /// Returns the next LF or CR from `start` on, at most `end`.
    @inline(__always)
    func lineBreak(from start: Int, to end: Int) -> Int {
        var index = start
        while index < end {
            let byte = self[index]
            if byte == Byte.lineFeed || byte == Byte.carriageReturn { break }
            index += 1
        }
        return min(index, max(start, end))
    }
}

extension UInt8 {
    /// `'`, `"` or a backtick.
    @inline(__always)
    var isQuote: Bool {
        self == Byte.doubleQuote || self == Byte.singleQuote || self == Byte.backtick
    }

    /// An ASCII letter, digit or underscore.
    @inline(__always)
    var isWord: Bool {
        (self | 0x20) &- 0x61 < 26 || self &- 0x30 < 10 || self == 0x5F
    }

    /// A byte that motdotla accepts in a name: `[\w.-]`.
    @inline(__always)
    var isNameByte: Bool { isWord || self == 0x2E || self == 0x2D }
}
