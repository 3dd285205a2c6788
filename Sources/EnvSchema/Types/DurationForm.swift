/// Durations: a number and a unit, or a number of milliseconds.
enum DurationForm {
    private static let units: [(names: [StaticString], milliseconds: Double)] = [
        (["ms", "millis", "millisecond", "milliseconds"], 1),
        (["s", "sec", "secs", "second", "seconds"], 1000),
        (["m", "min", "mins", "minute", "minutes"], 60_000),
        (["h", "hr", "hrs", "hour", "hours"], 3_600_000),
        (["d", "day", "days"], 86_400_000),
        (["w", "wk", "wks", "week", "weeks"], 604_800_000),
    ]

    private enum Failure: Error {
        case form, unit, tooLong, tooLarge, tooShort
    }

    static func fit(of text: ValueSlice, to type: ValueType) -> ValueFit {
        let trimmed = text.trimmed
        let value: Double
        do {
            value = try milliseconds(trimmed)
        } catch {
            switch error {
            case .form: return .misfit("not a duration, such as 5s or 10m")
            case .unit: return .misfit("has an unknown unit of time")
            case .tooLong: return .unchecked("it has too many digits")
            case .tooLarge: return .misfit("too large a number")
            case .tooShort: return .misfit("shorter than a millisecond")
            }
        }
        if let text = type.text("min"), let least = milliseconds(ofOption: text), value < least {
            return .misfit("shorter than \(SchemaText.shown(text))")
        }
        if let text = type.text("max"), let most = milliseconds(ofOption: text), value > most {
            return .misfit("longer than \(SchemaText.shown(text))")
        }
        return trimmed.count == text.count ? .fits : .coerced("has leading or trailing whitespace")
    }

    static func milliseconds(ofOption text: String) -> Double? {
        guard text.utf8.count <= 100 else { return nil }
        let bytes = Array(text.utf8)
        return unsafe bytes.withUnsafeBytes { unsafe try? milliseconds(ValueSlice($0).trimmed) }
    }

    private static func milliseconds(_ text: ValueSlice) throws(Failure) -> Double {
        let whole = text.prefix { $0.isDigit }
        guard !whole.isEmpty else { throw .form }
        var length = whole.count
        let rest = text.dropFirst(length)
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { $0.isDigit }
            guard !fraction.isEmpty else { throw .form }
            length += 1 + fraction.count
        }
        let unit = text.dropFirst(length).trimmedStart
        guard unit.allSatisfy(\.isLetter), !unit.isEmpty || length == text.count else {
            throw .form
        }
        guard let value = NumberForm.double(text.prefix(length)) else { throw .tooLong }
        let exact = value * (try factor(unit))
        guard exact.isFinite else { throw .tooLarge }
        let rounded = NumberForm.rounded(exact)
        guard exact == 0 || rounded > 0 else { throw .tooShort }
        return rounded
    }

    private static func factor(_ unit: ValueSlice) throws(Failure) -> Double {
        if unit.isEmpty { return 1 }
        for (names, milliseconds) in units
        where names.contains(where: { unit.equalsIgnoringCase($0) }) {
            return milliseconds
        }
        throw .unit
    }
}
