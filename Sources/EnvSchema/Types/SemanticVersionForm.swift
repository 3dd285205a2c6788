/// Versions by Semantic Versioning 2.0.
enum SemanticVersionForm {
    static func matches(_ text: ValueSlice) -> Bool {
        var rest = text
        for place in 0..<3 {
            if place > 0 {
                guard rest.first == UInt8(ascii: ".") else { return false }
                rest = rest.dropFirst()
            }
            let digits = rest.prefix { $0.isDigit }
            guard isNumber(digits) else { return false }
            rest = rest.dropFirst(digits.count)
        }
        if rest.first == UInt8(ascii: "-") {
            let identifiers = rest.dropFirst().prefix { $0 != UInt8(ascii: "+") }
            guard areIdentifiers(identifiers, numbersAreStrict: true) else { return false }
            rest = rest.dropFirst(1 + identifiers.count)
        }
        guard rest.first == UInt8(ascii: "+") else { return rest.isEmpty }
        return areIdentifiers(rest.dropFirst(), numbersAreStrict: false)
    }

    private static func isNumber(_ digits: ValueSlice) -> Bool {
        !digits.isEmpty && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
    }

    private static func areIdentifiers(_ text: ValueSlice, numbersAreStrict: Bool) -> Bool {
        var rest = text
        while true {
            let identifier = rest.prefix { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
            guard !identifier.isEmpty,
                !numbersAreStrict || !identifier.allSatisfy(\.isDigit) || isNumber(identifier)
            else { return false }
            rest = rest.dropFirst(identifier.count)
            guard rest.first == UInt8(ascii: ".") else { return rest.isEmpty }
            rest = rest.dropFirst()
        }
    }
}
