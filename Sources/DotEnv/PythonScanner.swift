/// Parses like python-dotenv to find disagreements; not a dialect of its own.
///
/// It reads line by line: a name (optionally in single quotes), `=`, and a value in which a
/// backslash in quotes always escapes the next character. A malformed line is skipped from the
/// place of the error on. A name alone is a variable without a value. Python opens the file as
/// text, so CR LF and CR are LF.
struct PythonScanner {
    private let text: SourceText
    private let hasCarriageReturn: Bool
    private var index: Int

    init(_ text: SourceText, _ survey: SourceText.Survey) {
        self.text = text
        hasCarriageReturn = survey.hasCarriageReturn
        index = survey.start
    }

    /// Returns the next assignment or name alone, or nil at the end.
    mutating func next() -> Statement? {
        while true {
            index = text.skippingSpaces(from: index, to: text.count, .python)
            guard index < text.count else { return nil }
            let statement = binding()
            let fits = statement != nil && skipEndOfLine()
            if !fits { index = text.lineBreak(from: index, to: text.count) }
            if fits, let statement { return statement }
        }
    }

    /// Returns the first index from `start` on that is not whitespace within a line.
    private func skippingInline(from start: Int) -> Int {
        var position = start
        while position < text.count {
            let byte = text[position]
            if byte == Byte.lineFeed || byte == Byte.carriageReturn { break }
            let width = text.spaceWidth(at: position, .python)
            if width == 0 { break }
            position += width
        }
        return min(position, text.count)
    }

    /// Skips a comment and whitespace up to the end of the line; returns false if other text is
    /// there.
    private mutating func skipEndOfLine() -> Bool {
        var position = skippingInline(from: index)
        if text[position] == Byte.hash {
            position = text.lineBreak(from: position, to: text.count)
        }
        let byte = text[position]
        let isEnd =
            position >= text.count || byte == Byte.lineFeed || byte == Byte.carriageReturn
        if isEnd { index = position }
        return isEnd
    }

    /// Parses a name and an optional value, as far as they are well-formed.
    private mutating func binding() -> Statement? {
        let start = index
        if text.has("export", at: index) {
            let name = skippingInline(from: index + 6)
            if name > index + 6 { index = name }
        }
        if text[index] == Byte.hash { return nil }
        guard let key = key() else { return nil }
        var statement = Statement(
            key: key, keyEncoding: hasCarriageReturn ? .lineBreaks : .verbatim,
            value: index..<index, hasValue: false, extent: start..<index)
        index = skippingInline(from: index)
        guard text[index] == Byte.equals else { return statement }
        statement.hasValue = true
        let value = skippingInline(from: index + 1)
        let hasSpace = value > index + 1
        index = value
        if hasSpace, text[value] == Byte.hash { return statement }
        return readValue(&statement) ? statement : nil
    }

    private mutating func key() -> Range<Int>? {
        if text[index] == Byte.singleQuote {
            let close = text.firstIndex(of: Byte.singleQuote, from: index + 1, to: text.count)
            guard close < text.count, close > index + 1 else { return nil }
            defer { index = close + 1 }
            return index + 1..<close
        }
        var end = index
        while end < text.count, text[end] != Byte.equals, text[end] != Byte.hash,
            text.spaceWidth(at: end, .python) == 0
        {
            end += 1
        }
        guard end > index else { return nil }
        defer { index = end }
        return index..<end
    }

    private mutating func readValue(_ statement: inout Statement) -> Bool {
        let quote = text[index]
        if quote == Byte.singleQuote || quote == Byte.doubleQuote {
            var close = index + 1
            var hasBackslash = false
            while close < text.count, text[close] != quote {
                if text[close] == Byte.backslash {
                    hasBackslash = true
                    close += 1
                    // CR LF is one character here.
                    if text.has("\r\n", at: close) { close += 1 }
                }
                close += 1
            }
            guard close < text.count else { return false }
            statement.value = index + 1..<close
            let escaped: DotEnvEncoding =
                quote == Byte.singleQuote ? .pythonSingle : .pythonDouble
            statement.encoding =
                hasBackslash ? escaped : (hasCarriageReturn ? .lineBreaks : .verbatim)
            index = close + 1
            return true
        }
        let lineEnd = text.lineBreak(from: index, to: text.count)
        var end = index
        while end < lineEnd {
            let width = text.spaceWidth(at: end, .python)
            if width == 0 {
                end += 1
                continue
            }
            let afterSpaces = text.skippingSpaces(from: end, to: lineEnd, .python)
            if text[afterSpaces] == Byte.hash, afterSpaces < lineEnd { break }
            end = afterSpaces
        }
        statement.value = index..<text.trimmingSpaces(from: index, to: end, .python)
        index = lineEnd
        return true
    }
}
