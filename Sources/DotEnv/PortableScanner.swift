/// Parses only what all parsers of `.env` files agree on, and refuses the rest.
///
/// A line is empty, a comment that starts with `#` at its first column, or `NAME=value` with a name
/// of letters, digits and underscores and a value in one of three forms:
///
/// - bare and made of `[A-Za-z0-9_./:@%+,=-]`
/// - in single quotes without `'`, a `$` before a letter, digit, underscore or brace, a backslash
///   before `$` or another one, or one at the end
/// - in double quotes without `"`, `\`, `$` or a backtick
///
/// Quoted values may span lines. There is no CR, no byte order mark and no repeated name.
struct PortableScanner {
    private let text: SourceText
    private var index = 0
    private var names = Set<String>()

    init(_ text: SourceText) {
        self.text = text
    }

    /// Returns the next assignment, or nil at the end.
    ///
    /// - Throws: ``DotEnvError`` with `refused` and the place of the first disagreement.
    mutating func next() throws(DotEnvError) -> Statement? {
        if index == 0, text.has("\u{FEFF}", at: 0) {
            throw text.failure(.refused, "parsers disagree about a byte order mark", at: 0)
        }
        while index < text.count {
            if text[index] == Byte.lineFeed {
                index += 1
            } else if text[index] == Byte.hash {
                try skipComment()
            } else {
                return try assignment()
            }
        }
        return nil
    }

    private mutating func skipComment() throws(DotEnvError) {
        let start = index
        let end = text.firstIndex(of: Byte.lineFeed, from: start, to: text.count)
        for position in start..<end
        where text[position] == Byte.carriageReturn || text.separatorWidth(at: position) > 0 {
            throw text.failure(.refused, "parsers disagree about this line break", at: position)
        }
        guard end < text.count else {
            throw text.failure(
                .refused, "some parsers need a line break after a comment", at: start)
        }
        if text[end - 1] == Byte.backslash {
            throw text.failure(
                .refused, "some parsers continue a comment after a backslash", at: end - 1)
        }
        index = end + 1
    }

    private mutating func assignment() throws(DotEnvError) -> Statement? {
        let start = index
        while text[index].isWord { index += 1 }
        guard index > start, !(text[start] &- 0x30 < 10), text[index] == Byte.equals else {
            throw text.failure(
                .refused, "parsers disagree about a line that is not NAME=value", at: start)
        }
        let key = start..<index
        let name = text.name(key)
        if name == "__proto__" {
            throw text.failure(.refused, "JavaScript parsers drop this name", at: start)
        }
        guard names.insert(name).inserted else {
            throw text.failure(
                .refused, "parsers disagree about a repeated name", at: start, key: name)
        }
        index += 1
        var statement = Statement(key: key, value: index..<index, extent: start..<index)
        let quote = text[index]
        if quote == Byte.singleQuote || quote == Byte.doubleQuote {
            let open = index
            index = text.firstIndex(of: quote, from: open + 1, to: text.count)
            guard index < text.count else {
                throw text.failure(.refused, "the quote is not closed", at: open, key: name)
            }
            statement.value = open + 1..<index
            index += 1
        } else {
            index = text.lineBreak(from: index, to: text.count)
            statement.value = statement.value.lowerBound..<index
        }
        let isPlain = statement.value.lowerBound == key.upperBound + 1
        guard isPortable(statement.value, quote: isPlain ? nil : quote),
            text.noncharacter(in: statement.value) == nil
        else {
            throw text.failure(
                .refused, "parsers disagree about this value", at: key.upperBound + 1, key: name)
        }
        guard index >= text.count || text[index] == Byte.lineFeed else {
            throw text.failure(
                .refused, "parsers disagree about text after a value", at: index, key: name)
        }
        statement.extent = start..<index
        return statement
    }

    private func isPortable(_ range: Range<Int>, quote: UInt8?) -> Bool {
        for position in range {
            let byte = text[position]
            guard let quote else {
                if !WritingRules.isBareByte(byte) { return false }
                continue
            }
            if byte == Byte.carriageReturn { return false }
            if quote == Byte.singleQuote {
                let next = position + 1 < range.upperBound ? text[position + 1] : 0
                if byte == Byte.dollar, next == Byte.leftBrace || next.isWord { return false }
                if byte == Byte.backslash,
                    next == 0 || next == Byte.backslash || next == Byte.dollar
                {
                    return false
                }
            } else if byte == Byte.backslash || byte == Byte.dollar || byte == Byte.backtick {
                return false
            }
        }
        return true
    }
}
