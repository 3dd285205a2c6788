internal import SystemFiles

extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
    /// A letter, a digit or `_`.
    var isNamePart: Bool { isLetter || isDigit || self == UInt8(ascii: "_") }
    /// A space or a tab.
    var isBlankByte: Bool { self == 0x20 || self == 0x09 }
    /// `"`, `'` or a backtick.
    var isQuoteByte: Bool { self == 0x22 || self == 0x27 || self == 0x60 }
    /// `-`, `=`, `*` or `#`, of which three make a divider.
    var isDividerByte: Bool { "-=*#".utf8.contains(self) }
    var isHexDigit: Bool { hexValue != nil }
    var hexValue: UInt8? { Hexadecimal.value(of: self) }

    /// The letter in lower case; anything but an ASCII letter as it is.
    var lowerCase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
