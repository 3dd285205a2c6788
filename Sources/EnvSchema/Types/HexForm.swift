/// Forms of hexadecimal digits.
enum HexForm {
    /// 8-4-4-4-12 digits with a version and a variant as RFC 4122 knows them.
    static func isUUID(_ text: ValueSlice) -> Bool {
        guard text.count == 36 else { return false }
        return text.enumerated().allSatisfy { place, byte in
            switch place {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            case 14: (UInt8(ascii: "0")...UInt8(ascii: "5")).contains(byte)
            case 19: byte.hexValue.map { [0, 8, 9, 10, 11].contains($0) } ?? false
            default: byte.isHexDigit
            }
        }
    }

    static func isMD5(_ text: ValueSlice) -> Bool {
        text.count == 32 && text.allSatisfy { $0.isHexDigit && $0 == $0.lowerCase }
    }
}
