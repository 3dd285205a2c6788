/// One search that goes on from piece to piece of a text, by positions in a buffer of the caller's.
struct PatternSearch {
    /// What the search takes bytes for.
    enum Alphabet {
        /// Themselves.
        case plain
        /// Digits of base64: `-` and `_` mean what `+` and `/` do, and line breaks in between
        /// nothing, since long texts are wrapped.
        case base64
    }

    private let automaton: PatternAutomaton
    private let alphabet: Alphabet
    private var state = PatternAutomaton.root
    /// Where what was seen of a pattern begins; before the buffer for bytes that were let go.
    private var start = 0

    init(_ automaton: PatternAutomaton, _ alphabet: Alphabet) {
        self.automaton = automaton
        self.alphabet = alphabet
    }

    /// How many bytes of a pattern were seen at the end of the text.
    var partialCount: Int { automaton.depth(of: state) }

    /// Where the beginning of a pattern lies at the end of the text; nil where there is none.
    var partialStart: Int? { state == PatternAutomaton.root ? nil : start }

    /// Tells that the buffer lost bytes at its front.
    mutating func moveBack(by count: Int) {
        start -= count
    }

    /// Searches `range` of a buffer.
    ///
    /// - Parameter found: Called with the ranges of patterns, which may begin before the buffer.
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

    /// The position `count` bytes of patterns further. Bytes that have gone are taken for no line breaks: a
    /// range that begins there is cut anyway.
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
