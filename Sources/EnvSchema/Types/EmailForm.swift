/// Email addresses, by the common expression that the other tool uses.
enum EmailForm {
    static func matches(_ text: ValueSlice) -> Bool {
        // Neither form of a domain has this sign.
        guard let at = text.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let local = text[text.startIndex..<at]
        return (isQuoted(local) || isDotted(local)) && isDomain(text[(at + 1)..<text.endIndex])
    }

    private static func isQuoted(_ local: ValueSlice) -> Bool {
        local.count >= 3 && local.first == UInt8(ascii: "\"") && local.last == UInt8(ascii: "\"")
            && !local.indices.contains { isLineEnd(local[$0..<local.endIndex]) }
    }

    private static func isLineEnd(_ rest: ValueSlice) -> Bool {
        switch rest.first {
        case 0x0A, 0x0D: true
        case 0xE2: rest.starts(with: [0xE2, 0x80, 0xA8]) || rest.starts(with: [0xE2, 0x80, 0xA9])
        default: false
        }
    }

    /// One or more runs without blanks and special characters, with dots between.
    private static func isDotted(_ local: ValueSlice) -> Bool {
        var rest = local
        var runLength = 0
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "."):
                guard runLength > 0 else { return false }
                runLength = 0
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: ")"),
                UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\\"), UInt8(ascii: ","),
                UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "\""):
                return false
            default:
                guard rest.blankLength == nil else { return false }
                runLength += 1
            }
            rest = rest.dropFirst()
        }
        return runLength > 0
    }

    private static func isDomain(_ domain: ValueSlice) -> Bool {
        if domain.first == UInt8(ascii: "["), domain.last == UInt8(ascii: "]") {
            // Any three digits: the expression does not look at their value.
            let parts = domain.dropFirst().dropLast().split(
                separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
            return parts.count == 4
                && parts.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy(\.isDigit) }
        }
        guard let dot = domain.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let last = domain[(dot + 1)..<domain.endIndex]
        guard last.count >= 2, last.allSatisfy(\.isLetter) else { return false }
        var labelLength = 0
        for byte in domain[domain.startIndex...dot] {
            if byte == UInt8(ascii: ".") {
                guard labelLength > 0 else { return false }
                labelLength = 0
            } else {
                guard byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") else {
                    return false
                }
                labelLength += 1
            }
        }
        return true
    }
}
