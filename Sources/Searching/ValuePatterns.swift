package import Sealing

/// Patterns for values: literal, as a terminal shows them, with backslash escapes as in JSON, and in
/// base64. Built once for several streams.
package final class ValuePatterns {
    /// The shortest value to search for. Shorter ones occur by chance everywhere.
    package static let shortest = 6
    /// The shortest line of a multi-line value to search for on its own in output. Shorter ones, such
    /// as braces and keywords, occur in other texts.
    package static let shortestLine = 16

    private let plain: PatternAutomaton
    private let encoded: PatternAutomaton
    /// The length of the longest pattern.
    let longest: Int

    /// Builds patterns for values of at least ``shortest`` bytes. Does not keep the values.
    ///
    /// - Parameter shortestLine: The shortest line of a multi-line value that counts as a value too;
    ///   nil for none.
    package init(_ values: [SecretSlice], shortestLine: Int?) throws(SealingError) {
        let arena = SecretArena()
        var buffer = try SecretBuffer()
        var (plain, encoded, begun) = ([SecretSlice](), [SecretSlice](), [SecretSlice]())
        var lines: [SecretSlice] = []
        if let shortestLine {
            lines = values.flatMap(Self.lines).filter { $0.count >= shortestLine }
        }
        for value in values + lines where value.count >= Self.shortest {
            plain += try Self.written(value, arena, &buffer)
            try value.withBytes { (bytes) throws(SealingError) in
                for offset in 0..<3 {
                    buffer.removeLast(buffer.count)
                    let dependsOnNext = try Base64Form.write(bytes, after: offset, to: &buffer)
                    let digits = try arena.copy(of: buffer)
                    encoded.append(digits)
                    if dependsOnNext { begun.append(digits.part(0..<digits.count - 1)) }
                }
            }
        }
        longest = (plain + encoded).map(\.count).max() ?? 0
        self.plain = try PatternAutomaton(plain)
        self.encoded = try PatternAutomaton(encoded, beginnings: begun)
    }

    /// Returns a value and those of its forms in clear that differ from it and from each other.
    private static func written(
        _ value: SecretSlice, _ arena: SecretArena, _ buffer: inout SecretBuffer
    ) throws(SealingError) -> [SecretSlice] {
        var forms = [value]
        for rule in [FormRule.shown] + FormRule.escaped {
            buffer.removeLast(buffer.count)
            try value.withBytes { (bytes) throws(SealingError) in
                try rule.write(bytes, to: &buffer)
            }
            let isKnown = buffer.withBytes { written in
                forms.contains { $0.withBytes { $0.isEqualInConstantTime(to: written) } }
            }
            if !isKnown { forms.append(try arena.copy(of: buffer)) }
        }
        return forms
    }

    /// Returns the lines of a multi-line value, without the whitespace around them.
    private static func lines(of value: SecretSlice) -> [SecretSlice] {
        let breaks = value.withBytes { bytes in
            (0..<bytes.byteCount).filter { [0x0A, 0x0D].contains(bytes.byte(at: $0)) }
        }
        if breaks.isEmpty { return [] }
        return zip([-1] + breaks, breaks + [value.count])
            .map { SearchForms.trimmed(value.part($0 + 1..<$1)) }
    }

    /// New searches for one text.
    var searches: [PatternSearch] {
        [PatternSearch(plain, .plain), PatternSearch(encoded, .base64)]
    }

    /// Returns the byte ranges of values in a whole text.
    package func ranges(in text: RawSpan) -> [Range<Int>] {
        var found: [Range<Int>] = []
        for var search in searches {
            search.search(text, 0..<text.byteCount) { found.append($0) }
        }
        return found
    }
}

extension SecretArena {
    fileprivate func copy(of buffer: borrowing SecretBuffer) throws(SealingError) -> SecretSlice {
        try buffer.withBytes { (bytes) throws(SealingError) in try copy(bytes) }
    }
}
