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
    private var depth = 0
    /// Where what was seen of a pattern begins; before the buffer for bytes that were let go.
    private var start = 0

    init(_ automaton: PatternAutomaton, _ alphabet: Alphabet) {
        self.automaton = automaton
        self.alphabet = alphabet
    }

    /// How many bytes of a pattern were seen at the end of the text.
    var partialCount: Int { depth }

    /// Where the beginning of a pattern lies at the end of the text; nil where there is none.
    var partialStart: Int? { depth > 0 ? start : nil }

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
        guard !automaton.isEmpty else { return }
        unsafe buffer.withUnsafeBytes { bytes in
            for index in range {
                var byte = unsafe bytes[index]
                if alphabet == .base64 {
                    switch byte {
                    case 0x2D: byte = 0x2B
                    case 0x5F: byte = 0x2F
                    case 0x0A, 0x0D: if depth > 0 { continue }
                    default: break
                    }
                }
                let next = automaton.next(state, byte)
                if next == PatternAutomaton.root {
                    (state, depth) = (next, 0)
                    continue
                }
                if depth == 0 {
                    (depth, start) = (1, index)
                } else if next == state + 1, automaton.isNeighbour(next) {
                    depth += 1
                } else {
                    let length = automaton.depth(of: next)
                    start = unsafe advance(start, by: depth + 1 - length, bytes)
                    depth = length
                }
                state = next
                if automaton.isMatch(next) {
                    let length = automaton.longestMatch(in: next)
                    let first = unsafe advance(start, by: depth - length, bytes)
                    found(first..<index + 1)
                }
            }
        }
    }

    /// The position `count` bytes of patterns further.
    private func advance(
        _ position: Int, by count: Int, _ bytes: UnsafeRawBufferPointer
    ) -> Int {
        guard alphabet == .base64 else { return position + count }
        var position = position
        var rest = count
        while unsafe rest > 0 || isBreak(position, bytes) {
            if unsafe !isBreak(position, bytes) { rest -= 1 }
            position += 1
        }
        return position
    }

    /// Bytes that have gone are taken for none: a range that begins there is cut anyway.
    private func isBreak(_ position: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard position >= 0, position < bytes.count else { return false }
        return unsafe bytes[position] == 0x0A || bytes[position] == 0x0D
    }
}
