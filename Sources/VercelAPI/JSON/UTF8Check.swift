internal import Sealing

/// Tells whether bytes are UTF-8, without making a `String` of them.
package enum UTF8Check {
    /// Whether `bytes` are well-formed UTF-8: no overlong form, no surrogate, nothing above
    /// U+10FFFF, nothing cut off (Unicode, table 3-7).
    package static func isValid(_ bytes: RawSpan) -> Bool {
        var offset = 0
        while offset < bytes.byteCount {
            let length = sequenceLength(bytes, at: offset)
            guard length > 0 else { return false }
            offset += length
        }
        return true
    }

    /// The length of the well-formed sequence at `offset`, or 0 if there is none.
    static func sequenceLength(_ bytes: RawSpan, at offset: Int) -> Int {
        guard offset < bytes.byteCount else { return 0 }
        let first = bytes.byte(at: offset)
        let length: Int
        // Only the second byte's range depends on the first one.
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: return 0
        }
        guard bytes.byteCount - offset >= length, second.contains(bytes.byte(at: offset + 1))
        else { return 0 }
        for place in 2..<max(length, 2) {
            guard (0x80...0xBF).contains(bytes.byte(at: offset + place)) else { return 0 }
        }
        return length
    }
}
