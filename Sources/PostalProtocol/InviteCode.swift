/// A code that lets one device join: 100 random bits as 20 letters and digits, in groups of four.
package struct InviteCode: Equatable, Sendable {
    /// 32 characters, without those that look alike.
    private static let alphabet = Array("ABCDEFGHJKMNPQRSTVWXYZ0123456789".utf8)
    private static let signCount = 20

    /// The 20 characters in canonical form; its digest is stored.
    package let signs: [UInt8]

    /// - Parameter random: 20 bytes; five bits of each are used.
    package init(random: [UInt8]) {
        precondition(random.count == Self.signCount)
        signs = random.map { Self.alphabet[Int($0 & 31)] }
    }

    /// Parses a code as typed. Ignores case, spaces and hyphens, and reads look-alike characters as
    /// the intended ones.
    package init?(typed text: String) {
        var signs: [UInt8] = []
        for byte in text.utf8.prefix(200) {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
                UInt8(ascii: "\t"):
                continue
            default:
                let upper = (0x61...0x7A).contains(byte) ? byte & 0xDF : byte
                switch upper {
                case UInt8(ascii: "I"), UInt8(ascii: "L"): signs.append(UInt8(ascii: "1"))
                case UInt8(ascii: "O"): signs.append(UInt8(ascii: "0"))
                case _ where Self.alphabet.contains(upper): signs.append(upper)
                default: return nil
                }
            }
        }
        guard signs.count == Self.signCount, text.utf8.count <= 200 else { return nil }
        self.signs = signs
    }

    /// The code for display: `XXXX-XXXX-XXXX-XXXX-XXXX`.
    package var text: String {
        var text = ""
        for (offset, sign) in signs.enumerated() {
            if offset > 0, offset % 4 == 0 { text += "-" }
            text.unicodeScalars.append(Unicode.Scalar(sign))
        }
        return text
    }
}
