/// Validates UTF-8 without creating a string.
package enum UTF8Check {
    /// Returns whether the bytes are valid UTF-8 (Unicode, table 3-7): no surrogates, no overlong
    /// forms, nothing above U+10FFFF.
    package static func isValid(_ bytes: RawSpan) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe isValid($0) }
    }

    private static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            let first = unsafe bytes[index]
            index += 1
            if first < 0x80 { continue }
            let second: ClosedRange<UInt8>
            let more: Int
            switch first {
            case 0xC2...0xDF: (second, more) = (0x80...0xBF, 0)
            case 0xE0: (second, more) = (0xA0...0xBF, 1)
            case 0xE1...0xEC, 0xEE...0xEF: (second, more) = (0x80...0xBF, 1)
            case 0xED: (second, more) = (0x80...0x9F, 1)
            case 0xF0: (second, more) = (0x90...0xBF, 2)
            case 0xF1...0xF3: (second, more) = (0x80...0xBF, 2)
            case 0xF4: (second, more) = (0x80...0x8F, 2)
            default: return false
            }
            guard index + more < bytes.count, unsafe second.contains(bytes[index]) else {
                return false
            }
            for offset in 0..<more {
                guard unsafe (0x80...0xBF).contains(bytes[index + 1 + offset]) else { return false }
            }
            index += 1 + more
        }
        return true
    }
}
