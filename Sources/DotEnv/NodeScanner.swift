/// Parses like `util.parseEnv` of Node 20.
///
/// That parser drops every CR, continues at the next `=` wherever it is (so a name can span lines),
/// trims spaces only, and knows no escape but `\n` in double quotes.
struct NodeScanner {
    private let text: SourceText
    private let hasCarriageReturn: Bool
    private var index: Int
    /// The end of the text, without trailing spaces.
    private let end: Int
    /// Stretches that Node drops silently.
    private(set) var ignored: [Range<Int>] = []

    init(_ text: SourceText, _ survey: SourceText.Survey) {
        self.text = text
        hasCarriageReturn = survey.hasCarriageReturn
        // Unlike other parsers, Node includes a byte order mark in the first name.
        index = Self.skippingBlanks(text, from: 0, to: text.count)
        end = Self.trimmingBlanks(text, from: index, to: text.count)
    }

    /// Returns the first index that is neither a space nor a CR, which Node drops.
    private static func skippingBlanks(_ text: SourceText, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end, text[index] == Byte.space || text[index] == Byte.carriageReturn {
            index += 1
        }
        return index
    }

    private static func trimmingBlanks(_ text: SourceText, from start: Int, to end: Int) -> Int {
        var index = end
        while index > start,
            text[index - 1] == Byte.space || text[index - 1] == Byte.carriageReturn
        {
            index -= 1
        }
        return index
    }

    /// Returns the index after `literal` at `start`, ignoring CRs; nil if it is not there.
    private func end(of literal: StaticString, at start: Int, to end: Int) -> Int? {
        literal.withUTF8Buffer { buffer in
            var index = start
            for offset in 0..<buffer.count {
                while index < end, text[index] == Byte.carriageReturn { index += 1 }
                guard index < end, text[index] == (unsafe buffer[offset]) else { return nil }
                index += 1
            }
            return index
        }
    }

    /// Returns the next assignment, or nil at the end.
    mutating func next() -> Statement? {
        while true {
            while index < end, text[index] == Byte.carriageReturn { index += 1 }
            guard index < end else { return nil }
            if text[index] == Byte.lineFeed || text[index] == Byte.hash {
                let newline = text.firstIndex(of: Byte.lineFeed, from: index, to: end)
                if newline < end {
                    index = newline + 1
                    continue
                }
            }
            let start = index
            if let statement = assignment() { return statement }
            // Without a name or `=` it stops reading; an unclosed quote in the last line is left
            // and read again as a name.
            ignored.append(start..<end)
            if index == start { index = end }
        }
    }

    /// Returns the line feed that ends just before `start`, ignoring CRs.
    private func lineFeed(before start: Int) -> Int? {
        var position = start - 1
        while position >= 0, text[position] == Byte.carriageReturn { position -= 1 }
        return text[position] == Byte.lineFeed ? position : nil
    }

    private mutating func assignment() -> Statement? {
        let sign = text.firstIndex(of: Byte.equals, from: index, to: end)
        guard sign < end else {
            index = end
            return nil
        }
        let start = Self.skippingBlanks(text, from: index, to: sign)
        var keyEnd = Self.trimmingBlanks(text, from: start, to: sign)
        var key = start
        if start >= keyEnd {
            // Node trims a name of only spaces to the preceding character, which is a line feed
            // unless the text starts here. Without any space it stops reading.
            guard text.firstIndex(of: Byte.space, from: index, to: sign) < sign,
                let lineFeed = lineFeed(before: index)
            else {
                index = end
                return nil
            }
            key = lineFeed
            keyEnd = lineFeed + 1
        }
        index = sign + 1
        if let afterExport = self.end(of: "export ", at: key, to: keyEnd) { key = afterExport }
        var statement = Statement(
            key: key..<keyEnd, keyEncoding: hasCarriageReturn ? .withoutReturns : .verbatim,
            value: index..<index, extent: min(key, start)..<index)
        guard readValue(&statement) else { return nil }
        statement.extent = statement.extent.lowerBound..<index
        return statement
    }

    /// Records text between a closing quote and the end of the line, unless it is a comment.
    private mutating func recordTrailingText(from start: Int, to newline: Int) {
        let first = text.skippingSpaces(from: start, to: newline)
        if first < newline, text[first] != Byte.hash,
            ignored.count <= DotEnvReader.maximumDiagnostics
        {
            ignored.append(first..<newline)
        }
    }

    /// Parses the value; returns false for an unclosed quote in the last line.
    private mutating func readValue(_ statement: inout Statement) -> Bool {
        let first = Self.skippingBlanks(text, from: index, to: end)
        let plain: DotEnvEncoding = hasCarriageReturn ? .withoutReturns : .verbatim
        statement.encoding = plain
        if text[first].isQuote, first < end {
            let quote = text[first]
            let close = text.firstIndex(of: quote, from: first + 1, to: end)
            let newline = text.firstIndex(
                of: Byte.lineFeed, from: close < end ? close + 1 : first, to: end)
            if close < end {
                statement.value = first + 1..<close
                recordTrailingText(from: close + 1, to: newline)
                let backslash = text.firstIndex(of: Byte.backslash, from: first + 1, to: close)
                if quote == Byte.doubleQuote, backslash < close {
                    statement.encoding = .withoutReturnsEscapes
                }
            } else if newline == end {
                index = first
                return false
            } else {
                statement.value = first..<newline
                statement.isUnterminated = true
            }
            index = newline
            return true
        }
        let newline = text.firstIndex(of: Byte.lineFeed, from: index, to: end)
        let hash = text.firstIndex(of: Byte.hash, from: index, to: newline)
        let start = Self.skippingBlanks(text, from: index, to: hash)
        statement.value = start..<Self.trimmingBlanks(text, from: start, to: hash)
        index = newline
        return true
    }
}
