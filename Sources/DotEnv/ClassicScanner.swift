/// Parses like the classic parser of motdotla/dotenv, in one pass.
///
/// That parser applies one regular expression to the text after turning CR LF and CR into LF: at a
/// line start, whitespace of any kind (line breaks too), optionally `export` and whitespace, a
/// name, `=` after optional whitespace or `:` before some, then a quoted value, or a value up to
/// `#` or the end of the line, or none, and optionally a comment. Backtracking leaves few choices,
/// each with one result:
///
/// - Whitespace and names are matched whole, as nothing else could follow a part of them.
/// - `export` is a prefix if an assignment follows it; otherwise it may be the name itself.
/// - A quote ends at the first quote without a backslash before it. If the rest of the line is not
///   blank or a comment there, it ends at the last earlier quote (with a backslash) where it is.
///   Without such a quote the quotes mean nothing and the value ends at `#` or the line end.
/// - After `=` there is always a match, so the expression never looks further than that.
///
/// Every stretch is read a bounded number of times: the search for the end of a quote stops at the
/// next opening quote of its kind, as an opening quote has no backslash before it.
struct ClassicScanner {
    private let text: SourceText
    private let hasCarriageReturn: Bool
    /// Whether lines written by Vercel's CLI are parsed as it means them.
    private let prefersVercelLines: Bool
    /// Where the search for the next statement starts.
    private var index: Int
    /// Stretches that are neither assignment nor comment nor blank, one per line.
    private(set) var ignored: [Range<Int>] = []

    init(_ text: SourceText, _ survey: SourceText.Survey, prefersVercelLines: Bool = false) {
        self.text = text
        hasCarriageReturn = survey.hasCarriageReturn
        self.prefersVercelLines = prefersVercelLines
        index = survey.start
    }

    /// Returns the next assignment, or nil at the end.
    mutating func next() -> Statement? {
        while true {
            let start = text.skippingSpaces(from: index, to: text.count)
            guard start < text.count else { return nil }
            if text[start] != Byte.hash, let statement = statement(at: start) {
                index = statement.extent.upperBound
                return statement
            }
            index = text.lineTerminator(from: start)
            if text[start] != Byte.hash, ignored.count <= DotEnvReader.maximumDiagnostics {
                ignored.append(start..<index)
            }
        }
    }

    private func statement(at start: Int) -> Statement? {
        if text.has("export", at: start) {
            let name = text.skippingSpaces(from: start + 6, to: text.count)
            if name > start + 6, let statement = assignment(at: name, from: start) {
                return statement
            }
        }
        return assignment(at: start, from: start)
    }

    /// Parses the assignment whose name starts at `name`.
    private func assignment(at name: Int, from start: Int) -> Statement? {
        var nameEnd = name
        while text[nameEnd].isNameByte { nameEnd += 1 }
        guard nameEnd > name else { return nil }
        let sign = text.skippingSpaces(from: nameEnd, to: text.count)
        let value: Int
        if text[sign] == Byte.equals {
            value = sign + 1
        } else if text[nameEnd] == Byte.colon {
            // Only one whitespace character belongs to the sign; CR LF is one character.
            let isPair = text.has("\r\n", at: nameEnd + 1)
            let width = isPair ? 2 : text.spaceWidth(at: nameEnd + 1)
            guard width > 0 else { return nil }
            value = nameEnd + 1 + width
        } else {
            return nil
        }
        var statement = Statement(key: name..<nameEnd, value: value..<value, extent: start..<value)
        if prefersVercelLines, readVercelLine(&statement) { return statement }
        let first = text.skippingSpaces(from: value, to: text.count)
        if text[first].isQuote {
            if readQuoted(&statement, from: first) { return statement }
            // A quote without another on its line is probably a mistake; a quote on a later line is
            // not part of this value.
            let lineEnd = text.lineBreak(from: value, to: text.count)
            statement.isUnterminated =
                first < lineEnd
                && text.firstIndex(of: text[first], from: first + 1, to: lineEnd) >= lineEnd
        }
        readBare(&statement)
        return statement
    }

    /// Returns the end of the blank rest of a line or of a comment; nil if other text follows.
    /// Whitespace may cross lines: the result is then the last line break.
    private func endOfLine(from start: Int) -> Int? {
        var index = start
        var lastTerminator: Int?
        while index < text.count {
            let width = text.spaceWidth(at: index)
            if width == 0 { break }
            if text.lineTerminatorWidth(at: index) > 0 { lastTerminator = index }
            index += width
        }
        if index >= text.count { return text.count }
        if text[index] == Byte.hash { return text.lineTerminator(from: index) }
        return lastTerminator
    }

    /// Parses a quoted value if its quote is closed. `first` is the opening quote.
    private func readQuoted(_ statement: inout Statement, from first: Int) -> Bool {
        let quote = text[first]
        var hasBackslash = false
        var best: (close: Int, end: Int)?
        var index = first + 1
        while index < text.count {
            let byte = text[index]
            if byte == Byte.backslash {
                hasBackslash = true
            } else if byte == quote {
                let isEscaped = text[index - 1] == Byte.backslash
                if let end = endOfLine(from: index + 1) { best = (index, end) }
                if !isEscaped { break }
            }
            index += 1
        }
        guard let best else { return false }
        statement.value = first + 1..<best.close
        statement.literal = first..<best.close + 1
        statement.encoding =
            quote == Byte.doubleQuote && hasBackslash
            ? .lineBreakEscapes : (hasCarriageReturn ? .lineBreaks : .verbatim)
        statement.extent = statement.extent.lowerBound..<best.end
        return true
    }

    /// Parses a value up to `#` or the end of the line. A pair of quotes around it is still
    /// dropped.
    private func readBare(_ statement: inout Statement) {
        let start = statement.value.lowerBound
        var end = start
        var hasSeparator = false
        while end < text.count {
            let byte = text[end]
            if byte == Byte.hash || byte == Byte.lineFeed || byte == Byte.carriageReturn { break }
            if byte == 0xE2, text.separatorWidth(at: end) > 0 { hasSeparator = true }
            end += 1
        }
        statement.extent =
            statement.extent
            .lowerBound..<(text[end] == Byte.hash ? text.lineTerminator(from: end) : end)
        let first = text.skippingSpaces(from: start, to: end)
        let last = text.trimmingSpaces(from: first, to: end)
        statement.value = first..<last
        statement.literal = first..<last
        guard first < last else { return }
        let quote = text[first]
        if hasSeparator {
            statement.encoding = quote == Byte.doubleQuote ? .separatedEscapes : .separated
            return
        }
        if quote.isQuote, last - first >= 2, text[last - 1] == quote {
            statement.value = first + 1..<last - 1
        }
        if quote == Byte.doubleQuote { statement.encoding = .lineBreakEscapes }
    }

    /// Parses `NAME="…"` up to the last quote of its line, if nothing follows that quote.
    private func readVercelLine(_ statement: inout Statement) -> Bool {
        let start = statement.value.lowerBound
        guard text[start] == Byte.doubleQuote, text[start - 1] == Byte.equals else { return false }
        let lineEnd = text.lineBreak(from: start, to: text.count)
        let close = text.trimmingSpaces(from: start + 1, to: lineEnd) - 1
        guard close > start, text[close] == Byte.doubleQuote else { return false }
        statement.value = start + 1..<close
        statement.literal = start..<close + 1
        statement.encoding = .lineBreakEscapes
        statement.extent = statement.extent.lowerBound..<lineEnd
        return true
    }
}
