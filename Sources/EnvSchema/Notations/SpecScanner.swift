/// Reads the parts of an env-spec file, at a position that moves forward.
///
/// Where the notation offers several readings of a text, they are tried in order, so a part may be
/// read more than once: `(` may open a call or be a character. A budget limits the repetitions,
/// which otherwise make the time quadratic for files of unclosed parentheses.
struct SpecScanner {
    /// The deepest nesting of calls, lists and objects.
    static let maximumDepth = 64
    /// The most arguments of a call, elements of a list or members of an object.
    static let maximumElements = 10_000

    /// Which lines belong to a call or list that goes on over several.
    enum Context {
        /// All lines.
        case item
        /// Lines that start with `#`.
        case comment
    }

    /// UTF-8 without NUL, CR LF and byte order mark.
    let bytes: [UInt8]
    var index = 0
    private var budget: Int
    private var knownLine = 1
    private var knownOffset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        budget = 8 * bytes.count + 65_536
    }

    var isAtEnd: Bool { index >= bytes.count }

    /// The byte at the position, or 0 at the end.
    var byte: UInt8 { index < bytes.count ? bytes[index] : 0 }

    func byte(at index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns the line of an offset, counted from 1. Fast for ascending offsets.
    mutating func line(at offset: Int) -> Int {
        if offset < knownOffset {
            knownOffset = 0
            knownLine = 1
        }
        for index in knownOffset..<min(offset, bytes.count)
        where bytes[index] == UInt8(ascii: "\n") {
            knownLine += 1
        }
        knownOffset = min(offset, bytes.count)
        return knownLine
    }

    mutating func failure(at offset: Int) -> SchemaError {
        SchemaError(.syntax, line: line(at: offset))
    }

    /// Counts bytes that were read.
    ///
    /// - Throws: `schema-syntax` once the file was read too often.
    mutating func spend(_ count: Int) throws(SchemaError) {
        budget -= count
        if budget < 0 { throw failure(at: index) }
    }

    mutating func skipBlanks() {
        while byte.isBlankByte { index += 1 }
    }

    /// Moves to the end of the line, before its line feed.
    mutating func skipLine() {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
    }

    /// Moves past a line feed or to the end; false if anything else is there.
    mutating func endLine() -> Bool {
        if isAtEnd { return true }
        guard byte == UInt8(ascii: "\n") else { return false }
        index += 1
        return true
    }

    /// Moves past a letter and the letters, digits and `_` after it.
    mutating func name() -> Range<Int>? {
        guard byte.isLetter else { return nil }
        let start = index
        while byte.isNamePart { index += 1 }
        return start..<index
    }

    /// Moves past blanks, comments and the line breaks that the context has within a call.
    mutating func skipSpace(_ context: Context) throws(SchemaError) {
        let start = index
        switch context {
        case .item:
            while true {
                if byte == UInt8(ascii: "#") { skipLine() }
                guard byte.isBlankByte || byte == UInt8(ascii: "\n") else { break }
                index += 1
            }
        case .comment:
            while true {
                skipBlanks()
                let mark = index
                if byte == UInt8(ascii: "#") { skipLine() }
                let end = index
                if byte == UInt8(ascii: "\n") {
                    index += 1
                    skipBlanks()
                    if byte == UInt8(ascii: "#") {
                        index += 1
                        continue
                    }
                }
                try spend(end - mark)
                index = mark
                break
            }
        }
        try spend(index - start)
    }
}
