/// The words for true and false.
enum BooleanForm {
    private static let words: [StaticString] = [
        "t", "true", "yes", "on", "1", "f", "false", "no", "off", "0",
    ]

    static func fit(of text: ValueSlice) -> ValueFit {
        let trimmed = text.trimmed
        guard words.contains(where: { trimmed.equalsIgnoringCase($0) }) else {
            return .misfit("not one of t, true, yes, on, 1, f, false, no, off, 0")
        }
        return trimmed.count == text.count ? .fits : .coerced("has leading or trailing whitespace")
    }
}
