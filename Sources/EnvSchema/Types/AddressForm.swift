/// IP addresses.
enum AddressForm {
    /// Returns four decimals without leading zeros as one number, or nil for another text.
    static func version4(_ text: ValueSlice) -> UInt32? {
        guard text.count <= 15 else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy(\.isDigit),
                part.count == 1 || part.first != UInt8(ascii: "0")
            else { return nil }
            let value = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 0x30) }
            guard value <= 255 else { return nil }
            address = address << 8 | value
        }
        return address
    }

    /// Also with a zone, `%` and letters or digits.
    static func isVersion6(_ text: ValueSlice) -> Bool {
        guard let percent = text.firstIndex(of: UInt8(ascii: "%")) else {
            return version6(text) != nil
        }
        let zone = text[(percent + 1)..<text.endIndex]
        return !zone.isEmpty && zone.allSatisfy { $0.isLetter || $0.isDigit }
            && version6(text[text.startIndex..<percent]) != nil
    }

    /// Returns an address without a zone as one number, or nil for another text. The last two of
    /// the eight groups may be written as an IPv4 address.
    static func version6(_ text: ValueSlice) -> UInt128? {
        guard (2...45).contains(text.count) else { return nil }
        var address: UInt128 = 0
        var groups = 0
        /// The number of groups before `::`.
        var gap: Int?
        var rest = text
        if rest.starts(with: "::".utf8) {
            gap = 0
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isHexDigit }
            let after = rest.dropFirst(digits.count)
            if after.first == UInt8(ascii: ".") {
                guard let last = version4(rest) else { return nil }
                address = address << 32 | UInt128(last)
                groups += 2
                break
            }
            guard (1...4).contains(digits.count) else { return nil }
            let group = digits.reduce(UInt128(0)) { $0 << 4 | UInt128($1.hexValue ?? 0) }
            address = address << 16 | group
            groups += 1
            if after.isEmpty { break }
            guard after.first == UInt8(ascii: ":") else { return nil }
            rest = after.dropFirst()
            if rest.first == UInt8(ascii: ":") {
                guard gap == nil else { return nil }
                gap = groups
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        guard let gap else { return groups == 8 ? address : nil }
        guard groups < 8 else { return nil }
        let bitsAfter = 16 * (groups - gap)
        let high = (address >> bitsAfter) << (128 - 16 * gap)
        return high | address & ((UInt128(1) << bitsAfter) - 1)
    }
}
