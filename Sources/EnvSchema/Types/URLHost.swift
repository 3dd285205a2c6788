/// The host of a URL with a special scheme, by the host parser of the URL Standard (section 3.5).
enum URLHost {
    /// A name, or the part of it that was read, in lower case.
    case name
    case version4(UInt32)
    case version6(UInt128)
    /// A name beyond ASCII, or with an encoded label: it needs the tables of Unicode.
    case international
    case invalid

    /// Reads a host without a port. Writes a name to `decoded`, which has room for the text.
    static func read(_ text: ValueSlice, decoded: inout ScratchText) -> URLHost {
        if text.first == UInt8(ascii: "[") {
            guard text.count > 2, text.last == UInt8(ascii: "]"),
                let address = AddressForm.version6(text.dropFirst().dropLast())
            else { return .invalid }
            return .version6(address)
        }
        decode(text, to: &decoded)
        let name = decoded.slice
        // For other names, "domain to ASCII" only changes letters to lower case.
        guard name.allSatisfy({ $0 < 0x80 }), !hasEncodedLabel(name) else {
            return .international
        }
        guard !name.isEmpty, !name.contains(where: isForbidden) else { return .invalid }
        guard endsInNumber(name) else { return .name }
        return version4(name).map { .version4($0) } ?? .invalid
    }

    /// Removes percent-encoding.
    private static func decode(_ text: ValueSlice, to decoded: inout ScratchText) {
        var rest = text
        while let byte = rest.first {
            if byte == UInt8(ascii: "%"), rest.count >= 3,
                let high = rest[rest.startIndex + 1].hexValue,
                let low = rest[rest.startIndex + 2].hexValue
            {
                decoded.append((high << 4 | low).lowerCase)
                rest = rest.dropFirst(3)
            } else {
                decoded.append(byte.lowerCase)
                rest = rest.dropFirst()
            }
        }
    }

    private static func hasEncodedLabel(_ name: ValueSlice) -> Bool {
        var isStart = true
        for index in name.indices {
            if isStart, name[index..<name.endIndex].starts(with: "xn--".utf8) { return true }
            isStart = name[index] == UInt8(ascii: ".")
        }
        return false
    }

    /// The forbidden domain code points.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F: true
        case UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "/"), UInt8(ascii: ":"),
            UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "@"),
            UInt8(ascii: "["), UInt8(ascii: "\\"), UInt8(ascii: "]"), UInt8(ascii: "^"),
            UInt8(ascii: "|"):
            true
        default: false
        }
    }

    // MARK: IPv4

    private static func withoutLastDot(_ name: ValueSlice) -> ValueSlice {
        name.count > 1 && name.last == UInt8(ascii: ".") ? name.dropLast() : name
    }

    private static func endsInNumber(_ name: ValueSlice) -> Bool {
        let name = withoutLastDot(name)
        let start = name.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? name.startIndex
        let last = name[start..<name.endIndex]
        return !last.isEmpty && (last.allSatisfy(\.isDigit) || number(last) != nil)
    }

    private static func version4(_ name: ValueSlice) -> UInt32? {
        var rest = withoutLastDot(name)
        var address: UInt64 = 0
        var places = 4
        while true {
            let part = rest.prefix { $0 != UInt8(ascii: ".") }
            guard places > 0, let value = number(part) else { return nil }
            rest = rest.dropFirst(part.count)
            if rest.isEmpty {
                // The last number fills the places that are left.
                guard value < UInt64(1) << UInt64(8 * places) else { return nil }
                return UInt32(exactly: address << UInt64(8 * places) | value)
            }
            guard value <= 255 else { return nil }
            address = address << 8 | value
            places -= 1
            rest = rest.dropFirst()
        }
    }

    /// Decimal, octal after `0`, hexadecimal after `0x`; too large numbers are cut to a large one.
    private static func number(_ text: ValueSlice) -> UInt64? {
        var digits = text
        var base: UInt64 = 10
        guard !text.isEmpty else { return nil }
        if text.starts(with: "0x".utf8) || text.starts(with: "0X".utf8) {
            base = 16
            digits = text.dropFirst(2)
        } else if text.count >= 2, text.first == UInt8(ascii: "0") {
            base = 8
            digits = text.dropFirst()
        }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = byte.hexValue, digit < base else { return nil }
            value = min(value * base + UInt64(digit), UInt64(1) << 40)
        }
        return value
    }
}
