package import Sealing

/// Patterns for values: literal, as a terminal shows them, and in base64. Built once for several
/// streams.
package final class ValuePatterns {
    /// The shortest value to search for. Shorter ones occur by chance everywhere.
    package static let shortest = 6

    private let plain: PatternAutomaton
    private let encoded: PatternAutomaton
    /// The length of the longest pattern.
    let longest: Int

    /// Builds patterns for values of at least ``shortest`` bytes. Does not keep the values.
    ///
    /// - Parameter hasLines: Whether each line of a multi-line value counts as a value too.
    package init(_ values: [SecretSlice], hasLines: Bool = false) throws(SealingError) {
        let arena = SecretArena()
        var buffer = try SecretBuffer()
        var (plain, encoded, begun) = ([SecretSlice](), [SecretSlice](), [SecretSlice]())
        for value in values + (hasLines ? values.flatMap(Self.lines) : [])
        where value.count >= Self.shortest {
            plain.append(value)
            try value.withBytes { (bytes) throws(SealingError) in
                if (0..<bytes.byteCount).contains(where: { bytes.byte(at: $0) == 0x0A }) {
                    buffer.removeLast(buffer.count)
                    try FormRule.shown.write(bytes, to: &buffer)
                    plain.append(try arena.copy(of: buffer))
                }
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

    /// Returns the lines of a multi-line value.
    private static func lines(of value: SecretSlice) -> [SecretSlice] {
        let breaks = value.withBytes { bytes in
            (0..<bytes.byteCount).filter { [0x0A, 0x0D].contains(bytes.byte(at: $0)) }
        }
        if breaks.isEmpty { return [] }
        return zip([-1] + breaks, breaks + [value.count]).map { value.part($0 + 1..<$1) }
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
