/// A search across successive pieces of a text, with positions in a buffer of the caller.
struct PatternSearch {
    /// How bytes are interpreted.
    enum Alphabet {
        /// Literally.
        case plain
        /// As base64 characters: `-` and `_` equal `+` and `/`, and line breaks are ignored because
        /// long texts are wrapped.
        case base64
    }

    private let automaton: PatternAutomaton
    private let alphabet: Alphabet
    private var state = PatternAutomaton.root
    /// The start of the partial match; negative if it is no longer in the buffer.
    private var start = 0

    init(_ automaton: PatternAutomaton, _ alphabet: Alphabet) {
        self.automaton = automaton
        self.alphabet = alphabet
    }

    /// The number of bytes of a pattern seen at the end of the text.
    var partialCount: Int { automaton.depth(of: state) }

    /// The start of a partial match at the end of the text, or nil.
    var partialStart: Int? { state == PatternAutomaton.root ? nil : start }

    /// Adjusts positions after the buffer lost bytes at its start.
    mutating func moveBack(by count: Int) {
        start -= count
    }

    /// Searches `range` of a buffer.
    ///
    /// - Parameter found: Called with the ranges of matches, which may start before the buffer.
    mutating func search(
        _ buffer: RawSpan, _ range: Range<Int>, found: (Range<Int>) -> Void
    ) {
        unsafe buffer.withUnsafeBytes { bytes in
            var (state, depth) = (state, partialCount)
            for index in range {
                var byte = unsafe bytes[index]
                if alphabet == .base64 {
                    if Self.isBreak(byte) { continue }
                    byte = LooseText.standard(byte)
                }
                state = automaton.next(state, byte)
                let seen = depth
                depth = automaton.depth(of: state)
                if depth == 0 { continue }
                if seen == 0 {
                    start = index
                } else if depth <= seen {
                    start = unsafe advance(start, by: seen + 1 - depth, bytes)
                }
                let length = automaton.longestMatch(in: state)
                if length > 0 {
                    found(unsafe advance(start, by: depth - length, bytes)..<index + 1)
                }
            }
            self.state = state
        }
    }

    /// Returns the position `count` pattern bytes further. Bytes before the buffer do not count as
    /// line breaks: a range that starts there is clipped anyway.
    private func advance(
        _ position: Int, by count: Int, _ bytes: UnsafeRawBufferPointer
    ) -> Int {
        guard alphabet == .base64 else { return position + count }
        var (position, rest) = (position, count)
        while true {
            let isBreak =
                unsafe bytes.indices.contains(position) && Self.isBreak(bytes[position])
            if !isBreak, rest == 0 { return position }
            if !isBreak { rest -= 1 }
            position += 1
        }
    }

    @inline(__always)
    private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
}
