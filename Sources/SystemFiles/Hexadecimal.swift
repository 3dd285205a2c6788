/// Hexadecimal encoding, high digit first.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the digit of a number below 16.
    package static func digit(_ number: UInt8, isUpper: Bool = false) -> UInt8 {
        number + (number < 10 ? 0x30 : isUpper ? 0x37 : 0x57)
    }

    /// Returns the two lowercase digits of a byte.
    package static func digits(of byte: UInt8) -> (high: UInt8, low: UInt8) {
        (digits[Int(byte >> 4)], digits[Int(byte & 15)])
    }

    /// Returns two lowercase digits per byte.
    package static func text(of bytes: some Sequence<UInt8>) -> String { text(of: Array(bytes)) }

    // Not generic: each `run` formats a dozen identifiers, and looking up the conformances of a
    // sequence takes longer than the digits.
    /// Returns two lowercase digits per byte.
    package static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the value of a digit in either case, or nil.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Decodes lowercase digits. Returns nil for an odd count or any other character.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2),
            !digits.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) })
        else { return nil }
        let halves = digits.compactMap(value(of:))
        guard halves.count == digits.count else { return nil }
        return stride(from: 0, to: halves.count, by: 2).map { halves[$0] << 4 | halves[$0 + 1] }
    }
}
