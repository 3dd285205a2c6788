package import Sealing

/// The text form of 128 random bits that people type, such as a recovery code.
///
/// It is 28 characters of Crockford's base32 (digits and letters without I, L, O and U)
/// in seven groups of four: 26 characters for the bits, highest first after two zero bits, and two
/// check characters. Parsing ignores case, spaces and hyphens, and accepts O for 0, and I or L for
/// 1.
package enum CodeText {
    /// What a text looks like.
    package enum Form: Equatable, Sendable {
        /// A code with matching check characters.
        case code
        /// A code with wrong, missing or extra characters: recognized by its groups or, without
        /// groups, by its length and start.
        case slip
        /// Anything else, such as a passphrase.
        case other
    }

    /// Without hyphens.
    static let characterCount = 28
    package static let byteCount = 16
    private static let dataCount = 26
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// Parses a code.
    ///
    /// - Returns: 16 bytes, or nil for a text that is not a code or has a typing error; see
    ///   ``form(of:)``.
    package static func bytes(
        reading text: borrowing SecretBytes
    ) throws(SealingError) -> SecretBytes? {
        guard form(of: text) == .code else { return nil }
        var bytes = try SecretBytes(count: byteCount)
        text.withBytes { text in
            bytes.withMutableBytes { target in
                var (pending, bitCount, position, written) = (0 as UInt32, 0, 0, 0)
                for offset in 0..<text.byteCount {
                    guard let value = value(of: text.byte(at: offset)) else { continue }
                    guard position < dataCount else { break }
                    pending = pending << 5 | UInt32(value)
                    // The first character contributes three bits: 26 times 5 is two more than 128.
                    bitCount += position == 0 ? 3 : 5
                    position += 1
                    if bitCount >= 8 {
                        bitCount -= 8
                        target.storeBytes(
                            of: UInt8(truncatingIfNeeded: pending >> UInt32(bitCount)),
                            toByteOffset: written, as: UInt8.self)
                        pending &= (1 << UInt32(bitCount)) - 1
                        written += 1
                    }
                }
            }
        }
        return bytes
    }

    /// Returns the text with hyphens, as people keep it: 34 bytes of ASCII.
    ///
    /// - Parameter code: 16 bytes.
    package static func text(
        of code: borrowing SecretBytes
    ) throws(SealingError) -> SecretBytes {
        precondition(code.count == byteCount)
        var text = try SecretBuffer(capacity: 64)
        var check = CheckCharacters()
        for position in 0..<dataCount {
            let value = character(of: code, at: position)
            check.add(value)
            try append(value, at: position, to: &text)
        }
        try append(check.high, at: dataCount, to: &text)
        try append(check.low, at: dataCount + 1, to: &text)
        return try text.withBytes { (bytes) throws(SealingError) in
            try SecretBytes(copying: bytes)
        }
    }

    private static func append(
        _ value: UInt8, at position: Int, to text: inout SecretBuffer
    ) throws(SealingError) {
        if position > 0, position % 4 == 0 { try text.append(0x2D) }
        try text.append(alphabet[Int(value)])
    }

    /// Returns five bits of a code.
    private static func character(of code: borrowing SecretBytes, at position: Int) -> UInt8 {
        code.withBytes { bytes in
            var value: UInt8 = 0
            for bit in (position * 5 - 2)..<(position * 5 + 3) {
                value <<= 1
                if bit >= 0 { value |= bytes.byte(at: bit / 8) >> UInt8(7 - bit % 8) & 1 }
            }
            return value
        }
    }

    /// Distinguishes a code, a mistyped code, and any other text.
    package static func form(of text: borrowing SecretBytes) -> Form {
        text.withBytes { text in
            var groups = Groups()
            var first: UInt8?
            var hasDigit = false
            var check = CheckCharacters()
            for offset in 0..<text.byteCount {
                let byte = text.byte(at: offset)
                if byte == 0x2D || byte == 0x20 {
                    groups.end()
                } else if let value = value(of: byte) {
                    first = first ?? value
                    hasDigit = hasDigit || (0x30...0x39).contains(byte)
                    check.add(value)
                    groups.add()
                } else {
                    return .other
                }
            }
            groups.end()
            // The bits start with two zeros.
            let beginsRight = first.map { $0 <= 7 } ?? false
            if groups.characterCount == characterCount, beginsRight, check.isZero { return .code }
            // Words without digits are a passphrase; nearly every code contains a digit.
            return hasDigit && groups.lookLikeACode(beginsRight) ? .slip : .other
        }
    }

    /// How the characters of a text are grouped.
    private struct Groups {
        private(set) var characterCount = 0
        private var (groupCount, wholeCount, shortestCount) = (0, 0, Int.max)
        private var current = 0

        mutating func add() { (characterCount, current) = (characterCount + 1, current + 1) }

        mutating func end() {
            guard current > 0 else { return }
            groupCount += 1
            if current == 4 { wholeCount += 1 }
            shortestCount = min(shortestCount, current)
            current = 0
        }

        /// Returns whether the text is about as long as a code and nearly all in groups of four, or
        /// a single group exactly as long as a code.
        func lookLikeACode(_ beginsRight: Bool) -> Bool {
            if groupCount == 1 {
                return characterCount == CodeText.characterCount && beginsRight
            }
            let isNear = abs(characterCount - CodeText.characterCount) <= 4
            return isNear && wholeCount >= 5 && shortestCount >= 3
        }
    }

    private static func value(of byte: UInt8) -> UInt8? {
        let upper = (0x61...0x7A).contains(byte) ? byte - 0x20 : byte
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: upper).map { UInt8($0) }
        }
    }
}

/// Two check characters of a Reed-Solomon code over the field of 32 elements. They detect any two
/// wrong characters, including any two swapped ones.
///
/// The remainder of division by (x - a)(x - a²) = x² + 6x + 8, where a = 2 and the field's
/// polynomial is x⁵ + x² + 1.
private struct CheckCharacters {
    private(set) var high: UInt8 = 0
    private(set) var low: UInt8 = 0

    /// Whether the characters so far, including the check characters, are consistent.
    var isZero: Bool { high == 0 && low == 0 }

    /// Adds a character. Adding the check characters themselves results in zero.
    mutating func add(_ value: UInt8) {
        let feedback = high ^ value
        high = low ^ Self.product(feedback, 6)
        low = Self.product(feedback, 8)
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (left, right, product) = (left, right, 0 as UInt8)
        while right > 0 {
            if right & 1 == 1 { product ^= left }
            left = left & 16 == 0 ? left << 1 : (left << 1 ^ 0b10_0101) & 31
            right >>= 1
        }
        return product
    }
}
