/// Parses a YAML mapping without nesting, in forms that all versions of YAML read alike:
///
/// - one `NAME: value` per line, from the first column
/// - a name bare (`[\w.-]`) or in quotes
/// - a value bare, in single or double quotes that end on its line, or in a literal block (`|`)
/// - comments, `---` once before the first name, or `{}` for no variables
///
/// A bare value is the text that stands there, whatever type YAML gives it, except null. Everything
/// else is refused: lists, nested values, anchors, aliases, tags, merge keys, folded blocks, values
/// that go on in the next line, further documents.
struct YAMLScanner {
    private let text: SourceText
    private var index: Int
    /// Whether `---` or a name precedes.
    private var hasBegun = false
    /// Whether the text is `{}`.
    private var isEmptyMapping = false
    /// The name of the line above, for messages.
    private var last: String?

    init(_ text: SourceText, _ survey: SourceText.Survey) {
        self.text = text
        index = survey.start
    }

    private func refusal(
        _ reason: String, at offset: Int, key: String? = nil
    ) -> DotEnvError {
        text.failure(.refused, reason, at: offset, key: key)
    }

    /// Returns the next variable, or nil at the end.
    ///
    /// - Throws: ``DotEnvError`` with `refused` and the place.
    mutating func next() throws(DotEnvError) -> Statement? {
        if !hasBegun, !isEmptyMapping { try checkCharacters() }
        while index < text.count {
            let line = text.yamlLine(from: index, to: text.count)
            let first = text.skippingBlanks(from: index, to: line.end)
            if first == line.end || text[first] == Byte.hash {
                index = line.next
            } else if first > index {
                throw refusal(
                    "nested values, and values that continue on the next line, cannot be read",
                    at: first, key: last)
            } else if text.has("---", at: first), isEnd(of: line.end, at: first + 3) {
                guard !hasBegun, !isEmptyMapping else {
                    throw refusal("only one document can be read", at: first)
                }
                hasBegun = true
                index = line.next
            } else if text.has("{}", at: first), isEnd(of: line.end, at: first + 2), last == nil,
                !isEmptyMapping
            {
                isEmptyMapping = true
                index = line.next
            } else {
                guard !isEmptyMapping else {
                    throw refusal("nothing may follow {}", at: first)
                }
                hasBegun = true
                return try statement(in: line)
            }
        }
        return nil
    }

    /// Refuses characters that YAML does not allow, and those that some of its versions read as line
    /// breaks.
    private func checkCharacters() throws(DotEnvError) {
        for offset in index..<max(index, text.count) {
            let (byte, second, third) = (text[offset], text[offset + 1], text[offset + 2])
            let isRefused =
                switch byte {
                case Byte.tab, Byte.lineFeed: false
                case Byte.carriageReturn: second != Byte.lineFeed
                case 0..<0x20, 0x7F: true
                case 0xC2: second < 0xA0
                case 0xE2: second == 0x80 && (third == 0xA8 || third == 0xA9)
                case 0xEF: (second == 0xBB && third == 0xBF) || (second == 0xBF && third >= 0xBE)
                default: false
                }
            if isRefused {
                throw refusal(
                    "a control character or unusual line break; write it as an escape in double quotes",
                    at: offset)
            }
        }
    }

    /// Returns whether only blanks and a comment follow.
    private func isEnd(of end: Int, at start: Int) -> Bool {
        let next = text.skippingBlanks(from: start, to: end)
        return next >= end || (next > start && text[next] == Byte.hash)
    }

    private mutating func statement(
        in line: (end: Int, next: Int)
    ) throws(DotEnvError) -> Statement {
        let start = index
        var statement = try name(in: line.end)
        let name = text.name(statement.key, statement.keyEncoding)
        last = name.isVariableName ? name : nil
        let afterName = statement.extent.upperBound
        let colon = text.skippingBlanks(from: afterName, to: line.end)
        guard text[colon] == Byte.colon,
            colon + 1 >= line.end || text[colon + 1] == Byte.space
        else {
            throw refusal("not a line NAME: value, with a space after the colon", at: start)
        }
        let value = text.skippingBlanks(from: colon + 1, to: line.end)
        statement.value = value..<value
        var end = line.end
        index = line.next
        switch text[value] {
        case _ where value >= line.end, Byte.hash:
            throw refusal(missingReason(below: line.next), at: start, key: last)
        case Byte.doubleQuote, Byte.singleQuote:
            let close = try closingQuote(of: value, in: line.end, key: last)
            statement.value = value + 1..<close
            statement.encoding = text[value] == Byte.doubleQuote ? .quoted : .yamlSingle
            guard isEnd(of: line.end, at: close + 1) else {
                throw refusal("text after the closing quote", at: close + 1, key: last)
            }
        case UInt8(ascii: "|"):
            let block = YAMLBlock(text, value..<text.count)
            if let problem = block.problem {
                throw refusal(problem.reason, at: problem.offset, key: last)
            }
            statement.value = value..<block.end
            statement.encoding = .yamlBlock
            (end, index) = (block.lastLineEnd, block.end)
        default:
            statement.value = try bareValue(value..<line.end)
        }
        statement.extent = start..<end
        return statement
    }

    /// Returns the name at the start of a line; the extent ends after it.
    private func name(in end: Int) throws(DotEnvError) -> Statement {
        let first = text[index]
        if first.isQuote, first != Byte.backtick {
            let close = try closingQuote(of: index, in: end)
            let encoding =
                first == Byte.doubleQuote ? DotEnvEncoding.quoted : .yamlSingle
            return Statement(
                key: index + 1..<close, keyEncoding: encoding, value: close..<close,
                extent: index..<close + 1)
        }
        var nameEnd = index
        while nameEnd < end, text[nameEnd].isNameByte { nameEnd += 1 }
        let key = index..<nameEnd
        let isItem = first == UInt8(ascii: "-") && key.count == 1
        guard !key.isEmpty, !isItem, !isNull(key),
            text.skippingBlanks(from: nameEnd, to: end) < end
        else {
            throw refusal(Self.reason(first, text[index + 1]), at: index)
        }
        return Statement(key: key, value: nameEnd..<nameEnd, extent: key)
    }

    /// Returns why a line that starts with `first` is refused.
    private static func reason(_ first: UInt8, _ second: UInt8) -> String {
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "["): "lists cannot be read"
        case UInt8(ascii: "&"), UInt8(ascii: "*"): "anchors and aliases cannot be read"
        case UInt8(ascii: "!"): "tags cannot be read"
        case UInt8(ascii: "%"): "directives cannot be read"
        case UInt8(ascii: "<") where second == first: "merge keys cannot be read"
        case Byte.leftBrace: "braces cannot be read; write one NAME: value per line"
        default: "not a line NAME: value"
        }
    }

    /// Returns the offset of the quote that closes the one at `open`.
    private func closingQuote(
        of open: Int, in end: Int, key: String? = nil
    ) throws(DotEnvError) -> Int {
        let quote = text[open]
        var position = open + 1
        while position < end {
            if text[position] == Byte.backslash, quote == Byte.doubleQuote {
                // A pair of surrogates, as in JSON, is two characters in YAML.
                guard let escape = QuotedString.escape(text, at: position), escape.length != 12,
                    escape.scalar != "\0"
                else {
                    throw refusal("not a valid YAML escape, or a NUL", at: position, key: key)
                }
                position += escape.length
            } else if text[position] != quote {
                position += 1
            } else if quote == Byte.singleQuote, text[position + 1] == quote {
                position += 2
            } else {
                return position
            }
        }
        throw refusal("the quote is not closed on its line", at: open, key: key)
    }

    private func bareValue(_ range: Range<Int>) throws(DotEnvError) -> Range<Int> {
        let (start, second) = (range.lowerBound, text[range.lowerBound + 1])
        let isAlone = range.count == 1 || second == Byte.space
        let reason: String? =
            switch text[start] {
            case UInt8(ascii: "-") where isAlone: "lists cannot be read"
            case UInt8(ascii: "["), Byte.leftBrace: "nested values cannot be read"
            case UInt8(ascii: "?") where isAlone, Byte.colon where isAlone:
                "nested values cannot be read"
            case UInt8(ascii: "&"), UInt8(ascii: "*"): "anchors and aliases cannot be read"
            case UInt8(ascii: "!"): "tags cannot be read"
            case UInt8(ascii: ">"): "folded blocks (>) cannot be read; write |, or quote the value"
            case UInt8(ascii: "]"), Byte.rightBrace, UInt8(ascii: ","), UInt8(ascii: "%"),
                UInt8(ascii: "@"), Byte.backtick:
                "quote the value: YAML reserves its first character"
            default: nil
            }
        if let reason { throw refusal(reason, at: start, key: last) }
        var end = start
        while end < range.upperBound {
            let next = text[end + 1]
            if text[end] == Byte.tab {
                throw refusal("quote the value: it has a tab", at: end, key: last)
            }
            if text[end] == Byte.colon, end + 1 == range.upperBound || next == Byte.space {
                throw refusal("quote the value: it has a colon and a space", at: end, key: last)
            }
            if text[end] == Byte.space, next == Byte.hash, end + 1 < range.upperBound { break }
            end += 1
        }
        while text[end - 1] == Byte.space { end -= 1 }
        if isNull(start..<end) { throw refusal("the value is null", at: start, key: last) }
        return start..<end
    }

    private func isNull(_ range: Range<Int>) -> Bool {
        (range.count == 1 && text[range.lowerBound] == UInt8(ascii: "~"))
            || (range.count == 4
                && (text.has("null", at: range.lowerBound) || text.has("Null", at: range.lowerBound)
                    || text.has("NULL", at: range.lowerBound)))
    }

    /// Returns why a name without a value on its line is refused.
    private func missingReason(below start: Int) -> String {
        var start = start
        while start < text.count {
            let line = text.yamlLine(from: start, to: text.count)
            let first = text.skippingBlanks(from: start, to: line.end)
            if first < line.end, text[first] != Byte.hash {
                return first > start || text[first] == UInt8(ascii: "-")
                    ? "nested values cannot be read" : "the value is null"
            }
            start = line.next
        }
        return "the value is null"
    }
}

/// A literal block of YAML: `|` and lines with a common indentation, which is not part of the value.
struct YAMLBlock {
    /// Where the first line starts.
    let start: Int
    /// Where the first line below starts.
    private(set) var end: Int
    /// The end of the last line, without its line break.
    private(set) var lastLineEnd: Int
    /// Why the block is refused.
    private(set) var problem: (reason: String, offset: Int)?
    private var indentation = 0
    /// The end of the last line that is not empty.
    private var contentEnd: Int
    /// The number of line feeds after it in the value.
    private var finalBreaks = 0
    private var isAtLineStart = true

    /// - Parameter range: From the `|`, and at least as far as the block reaches.
    init(_ text: SourceText, _ range: Range<Int>) {
        var index = range.lowerBound + 1
        var (strips, keeps) = (false, false)
        while index < range.upperBound {
            let byte = text[index]
            if byte == UInt8(ascii: "-"), !strips, !keeps {
                strips = true
            } else if byte == UInt8(ascii: "+"), !strips, !keeps {
                keeps = true
            } else if indentation == 0, (0x31...0x39).contains(byte) {
                indentation = Int(byte - 0x30)
            } else {
                break
            }
            index += 1
        }
        let head = text.yamlLine(from: index, to: range.upperBound)
        let rest = text.skippingBlanks(from: index, to: head.end)
        if rest < head.end, rest == index || text[rest] != Byte.hash {
            problem = ("text after the | of a block", rest)
        }
        (start, end, contentEnd, lastLineEnd) = (head.next, head.next, head.next, head.end)
        let (breaks, hasContent) = readLines(text, to: range.upperBound)
        if keeps {
            finalBreaks = breaks
        } else if !strips, hasContent {
            finalBreaks = min(breaks, 1)
        }
    }

    /// Finds the end, and the indentation unless it is given. Returns the number of line breaks after
    /// the last line that is not empty.
    private mutating func readLines(
        _ text: SourceText, to limit: Int
    ) -> (breaks: Int, hasContent: Bool) {
        var (breaks, longestBlank, hasContent) = (0, 0, false)
        while end < limit {
            let line = text.yamlLine(from: end, to: limit)
            let first = text.skippingBlanks(from: end, to: line.end)
            let width = first - end
            if first < line.end, indentation == 0 {
                if width == 0 { break }
                if text[first] == Byte.tab || longestBlank > width, problem == nil {
                    problem = ("the indentation of the block is not clear", first)
                }
                indentation = width
            }
            if first == line.end, indentation == 0 || width <= indentation {
                longestBlank = max(longestBlank, width)
                if line.next > line.end { breaks += 1 }
            } else {
                if width < indentation { break }
                hasContent = true
                contentEnd = line.end
                breaks = line.next > line.end ? 1 : 0
            }
            lastLineEnd = line.end
            end = line.next
        }
        return (breaks, hasContent)
    }

    /// Returns the piece of the value at `index`, or nil at the end.
    mutating func next(_ text: SourceText, _ index: inout Int) -> ValueRun? {
        while index < contentEnd {
            let line = text.yamlLine(from: index, to: contentEnd)
            guard isAtLineStart else {
                isAtLineStart = true
                index = line.next
                return .literal(Byte.lineFeed)
            }
            isAtLineStart = false
            let limit = min(index + indentation, line.end)
            let first = text.skippingBlanks(from: index, to: limit)
            index = line.end
            if first < line.end { return .source(first..<line.end) }
        }
        guard finalBreaks > 0 else { return nil }
        finalBreaks -= 1
        return .literal(Byte.lineFeed)
    }
}

extension SourceText {
    /// Returns the end of the line that contains `start`, and where the next one starts. Only LF and
    /// CR LF end a line.
    fileprivate func yamlLine(from start: Int, to limit: Int) -> (end: Int, next: Int) {
        let end = firstIndex(of: Byte.lineFeed, from: start, to: limit)
        let hasReturn = end < limit && end > start && self[end - 1] == Byte.carriageReturn
        return (hasReturn ? end - 1 : end, min(end + 1, limit))
    }

    /// Returns the first index from `start` on that is not a space, or `end`.
    fileprivate func skippingBlanks(from start: Int, to end: Int) -> Int {
        var index = start
        while index < end, self[index] == Byte.space { index += 1 }
        return index
    }
}
