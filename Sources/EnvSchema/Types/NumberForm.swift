internal import Glibc

/// A decimal at the start of a text, as JavaScript's `parseFloat` reads it.
struct NumberForm {
    /// Infinite if it is too large.
    let value: Double
    /// The decimal is the whole text.
    let isWhole: Bool

    /// The longest decimal that is read. Doubles need 767 digits at most.
    private static let maximumLength = 1024

    enum Failure: Error {
        case notNumber, tooLong
    }

    init(_ text: ValueSlice) throws(Failure) {
        let start = text.trimmedStart
        let length = Self.decimalLength(start)
        guard length > 0 else { throw .notNumber }
        guard length <= Self.maximumLength else { throw .tooLong }
        guard let value = Self.double(start.prefix(length)) else { throw .notNumber }
        self.value = value
        isWhole = length == text.count
    }

    /// Returns the double of a decimal that has been checked.
    ///
    /// The programs never leave the C locale, so `strtod` reads a point.
    static func double(_ decimal: ValueSlice) -> Double? {
        guard decimal.count <= maximumLength else { return nil }
        return ScratchText.lend(decimal.count + 1) { scratch in
            scratch.append(decimal)
            return unsafe scratch.withCString { unsafe strtod($0, nil) }
        }
    }

    /// The length of the longest decimal at the start: a sign, digits, a fraction, an exponent.
    private static func decimalLength(_ text: ValueSlice) -> Int {
        var rest = text
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
            rest = rest.dropFirst()
        }
        let whole = rest.prefix { $0.isDigit }
        rest = rest.dropFirst(whole.count)
        var hasDigits = !whole.isEmpty
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { $0.isDigit }
            hasDigits = hasDigits || !fraction.isEmpty
            if hasDigits { rest = rest.dropFirst(1 + fraction.count) }
        }
        guard hasDigits else { return 0 }
        if let letter = rest.first, letter.lowerCase == UInt8(ascii: "e") {
            var exponent = rest.dropFirst()
            if exponent.first == UInt8(ascii: "+") || exponent.first == UInt8(ascii: "-") {
                exponent = exponent.dropFirst()
            }
            let digits = exponent.prefix { $0.isDigit }
            if !digits.isEmpty { rest = exponent.dropFirst(digits.count) }
        }
        return text.count - rest.count
    }

    // MARK: Types

    static func fit(of text: ValueSlice, to type: ValueType) -> ValueFit {
        let number: NumberForm
        do { number = try NumberForm(text) } catch { return fit(of: error) }
        guard number.value.isFinite else { return .misfit("too large a number") }
        var value = number.value
        let least = type.number("min")
        let most = type.number("max")
        if type.flag("coerceToMinMaxRange") {
            if let least { value = max(least, value) }
            if let most { value = min(most, value) }
        }
        let isClamped = value != number.value
        let unrounded = value
        if type.flag("isInt") || type.number("precision") == 0 {
            value = rounded(value)
        } else if let precision = type.number("precision") {
            let factor = pow(10, precision)
            value = rounded(value * factor) / factor
        }
        if let misfit = misfit(value, least: least, most: most) { return misfit }
        if let divisor = type.number("isDivisibleBy"),
            value.truncatingRemainder(dividingBy: divisor) != 0
        {
            return .misfit("not a multiple of \(SchemaText.shown(divisor))")
        }
        if !number.isWhole { return .coerced("only part of it is a number") }
        if isClamped { return .coerced("out of range, so the nearest limit is used") }
        // No number is left of one that is too large to round.
        return value == unrounded
            ? .fits : .coerced("has more decimal places than its type allows")
    }

    static func fit(ofPort text: ValueSlice, to type: ValueType) -> ValueFit {
        if text.contains(UInt8(ascii: ".")) { return .misfit("not a whole number") }
        if text.contains(UInt8(ascii: "e")) { return .misfit("it uses an exponent") }
        let number: NumberForm
        do { number = try NumberForm(text) } catch { return fit(of: error) }
        let misfit =
            misfit(number.value, least: type.number("min"), most: type.number("max"))
            ?? misfit(number.value, least: 0, most: 65_535)
        if let misfit { return misfit }
        guard number.isWhole else { return .coerced("only part of it is a number") }
        return text.allSatisfy { $0.isDigit }
            ? .fits : .coerced("contains characters other than digits")
    }

    private static func fit(of failure: Failure) -> ValueFit {
        switch failure {
        case .notNumber: .misfit("not a number")
        case .tooLong: .unchecked("it has too many digits")
        }
    }

    private static func misfit(_ value: Double, least: Double?, most: Double?) -> ValueFit? {
        if let least, value < least { return .misfit("below \(SchemaText.shown(least))") }
        if let most, value > most { return .misfit("above \(SchemaText.shown(most))") }
        return nil
    }

    /// As JavaScript's `Math.round`: halves go up.
    static func rounded(_ value: Double) -> Double {
        let floor = value.rounded(.down)
        return value - floor >= 0.5 ? floor + 1 : floor
    }
}
