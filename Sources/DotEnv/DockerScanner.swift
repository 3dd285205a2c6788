/// Parses like `docker run --env-file`: one variable per line, everything after `=` verbatim.
struct DockerScanner {
    /// The longest line that docker reads, in bytes.
    private static let lineLimit = 65_535

    private let text: SourceText
    private var index: Int
    /// Names without a value, which docker takes from its own environment.
    private(set) var ignored: [Range<Int>] = []

    init(_ text: SourceText, _ survey: SourceText.Survey) {
        self.text = text
        index = survey.start
    }

    /// Returns the next variable, or nil at the end.
    ///
    /// - Throws: ``DotEnvError`` with `refused` if docker refuses the file.
    mutating func next() throws(DotEnvError) -> Statement? {
        while index < text.count {
            let start = index
            let newline = text.firstIndex(of: Byte.lineFeed, from: start, to: text.count)
            index = newline + 1
            guard newline - start <= Self.lineLimit else {
                throw text.failure(.refused, "docker does not accept a line this long", at: start)
            }
            // One CR before the line feed or at the end of the text belongs to the line end.
            let hasReturn = newline > start && text[newline - 1] == Byte.carriageReturn
            let end = hasReturn ? newline - 1 : newline
            let first = text.skippingSpaces(from: start, to: end, .go)
            if first == end || text[first] == Byte.hash { continue }
            let sign = text.firstIndex(of: Byte.equals, from: first, to: end)
            guard sign > first else {
                throw text.failure(.refused, "docker rejects a line without a name", at: first)
            }
            for position in first..<sign
            where text[position] == Byte.space || text[position] == Byte.tab {
                throw text.failure(
                    .refused, "docker does not allow whitespace in a name", at: position)
            }
            guard sign < end else {
                if ignored.count <= DotEnvReader.maximumDiagnostics { ignored.append(first..<end) }
                continue
            }
            return Statement(key: first..<sign, value: sign + 1..<end, extent: first..<end)
        }
        return nil
    }
}
