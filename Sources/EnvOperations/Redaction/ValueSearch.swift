package import Sealing

/// Finds values in a text that is to be kept in the open, as they are and in base64.
///
/// A line of a value of several lines counts as a value. What is shorter than
/// ``RedactionPatterns/shortest`` is not looked for: it occurs by itself everywhere.
package struct ValueSearch {
    private let plain: PatternAutomaton
    private let encoded: PatternAutomaton

    /// Takes the values to look for.
    package init(for values: [SecretSlice]) throws(SealingError) {
        let patterns = try RedactionPatterns(values + values.flatMap(Self.lines))
        plain = try PatternAutomaton(patterns.plain)
        encoded = try PatternAutomaton(patterns.encoded)
    }

    /// Where values are in a text, in bytes.
    package func ranges(in text: RawSpan) -> [Range<Int>] {
        var found: [Range<Int>] = []
        for (automaton, alphabet) in [
            (plain, PatternSearch.Alphabet.plain), (encoded, .base64),
        ] {
            var search = PatternSearch(automaton, alphabet)
            search.search(text, 0..<text.byteCount) { found.append($0) }
        }
        return found
    }

    /// The lines of a value that has several.
    private static func lines(of value: SecretSlice) -> [SecretSlice] {
        let breaks = value.withBytes { bytes in
            (0..<bytes.byteCount).filter { [0x0A, 0x0D].contains(bytes.byte(at: $0)) }
        }
        if breaks.isEmpty { return [] }
        return zip([-1] + breaks, breaks + [value.count]).map { value.part($0 + 1..<$1) }
    }
}
