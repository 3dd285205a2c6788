/// Parses like `env_file` of Docker Compose, without its expansion.
///
/// Text after a closing quote is a new statement, `:` works like `=`, and the first character that
/// cannot be in a name is an error. A value in which Compose would expand something is kept
/// verbatim and noted; `$$` and `\$` are resolved only if nothing would be expanded.
struct ComposeScanner {
    private let text: SourceText
    private var index: Int
    /// Names without a value, which Compose takes from its own environment.
    private(set) var ignored: [Range<Int>] = []
    /// Values that Compose would expand.
    private(set) var live: [Range<Int>] = []

    init(_ text: SourceText, _ survey: SourceText.Survey) {
        self.text = text
        index = survey.start
    }

    /// Returns the width of whitespace within a line; 0 for a line feed and for spaces that
    /// Compose does not know here.
    private func blankWidth(at index: Int) -> Int {
        switch text[index] {
        case 0x09, 0x0B, 0x0C, 0x0D, 0x20: return 1
        case 0xC2: return text[index + 1] == 0x85 || text[index + 1] == 0xA0 ? 2 : 0
        default: return 0
        }
    }

    private func skippingBlanks(from start: Int) -> Int {
        var position = start
        while position < text.count {
            let width = blankWidth(at: position)
            if width == 0 { break }
            position += width
        }
        return position
    }

    /// Returns the next variable, or nil at the end.
    ///
    /// - Throws: ``DotEnvError`` with `refused` if Compose refuses the file.
    mutating func next() throws(DotEnvError) -> Statement? {
        while true {
            index = text.skippingSpaces(from: index, to: text.count, .go)
            guard index < text.count else { return nil }
            if text[index] == Byte.hash {
                index = text.firstIndex(of: Byte.lineFeed, from: index, to: text.count)
                continue
            }
            if let statement = try statement() { return statement }
        }
    }

    private mutating func statement() throws(DotEnvError) -> Statement? {
        let start = index
        var name = start
        if text.has("export", at: start), isExportSpace(text[start + 6]) {
            name = skippingBlanks(from: start + 6)
            guard name < text.count else {
                throw text.failure(.refused, "Compose rejects export without a name", at: start)
            }
        }
        let end = try nameEnd(from: name)
        let trimmed = text.trimmingSpaces(from: name, to: end, .go)
        // Without a sign before the end of the text, Compose takes the rest as the value of a
        // nameless variable.
        let isNameless = end >= text.count
        let key = isNameless ? name..<name : name..<trimmed
        if text.contains(Byte.space, in: key) {
            throw text.failure(.refused, "Compose does not allow a space in a name", at: name)
        }
        index = skippingBlanks(from: isNameless ? name : end + 1)
        if !isNameless, text[end] == Byte.lineFeed {
            if ignored.count <= DotEnvReader.maximumDiagnostics { ignored.append(start..<end) }
            return nil
        }
        var statement = Statement(key: key, value: index..<index, extent: start..<index)
        try readValue(&statement)
        statement.extent = start..<max(start, min(index, text.count))
        return statement
    }

    private func isExportSpace(_ byte: UInt8) -> Bool {
        byte == Byte.space || byte == Byte.tab || byte == Byte.lineFeed || byte == 0x0C
            || byte == Byte.carriageReturn
    }

    /// Returns where `=`, `:` or a line feed ends a name, or the end of the text.
    private func nameEnd(from start: Int) throws(DotEnvError) -> Int {
        var position = start
        while position < text.count {
            let byte = text[position]
            let blank = blankWidth(at: position)
            if blank > 0 {
                position += blank
            } else if byte == Byte.equals || byte == Byte.colon || byte == Byte.lineFeed {
                return position
            } else if byte.isNameByte || byte == 0x5B || byte == 0x5D {
                position += 1
            } else if let width = letterWidth(at: position) {
                position += width
            } else {
                throw text.failure(
                    .refused, "Compose does not allow this character in a name", at: position)
            }
        }
        return position
    }

    /// Returns the width of a non-ASCII letter or number, or nil.
    private func letterWidth(at index: Int) -> Int? {
        let width: Int
        switch text[index] {
        case 0xC2...0xDF: width = 2
        case 0xE0...0xEF: width = 3
        case 0xF0...0xF4: width = 4
        default: return nil
        }
        guard let scalar = text.name(index..<index + width).unicodeScalars.first else {
            return nil
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
            .otherLetter, .decimalNumber, .letterNumber, .otherNumber:
            return width
        default:
            return nil
        }
    }

    private mutating func readValue(_ statement: inout Statement) throws(DotEnvError) {
        let quote = text[index]
        guard quote == Byte.singleQuote || quote == Byte.doubleQuote else {
            readBare(&statement)
            return
        }
        var close = index + 1
        while close < text.count, text[close] != quote {
            close += text[close] == Byte.backslash ? 2 : 1
        }
        guard close < text.count else {
            throw text.failure(.refused, "the quote is not closed", at: index)
        }
        statement.value = index + 1..<close
        if quote == Byte.singleQuote {
            statement.encoding = .composeSingle
        } else {
            let isLive = isLive(statement.value, hasEscapes: true)
            statement.encoding = isLive ? .composeDoubleLive : .composeDouble
            if isLive { note(statement.value) }
        }
        index = close + 1
    }

    private mutating func readBare(_ statement: inout Statement) {
        let lineEnd = text.firstIndex(of: Byte.lineFeed, from: index, to: text.count)
        var end = index
        while end < lineEnd {
            if text[end] == Byte.space, text[end + 1] == Byte.hash, end + 1 < lineEnd { break }
            end += 1
        }
        statement.value = index..<text.trimmingSpaces(from: index, to: end, .go)
        if isLive(statement.value, hasEscapes: false) {
            note(statement.value)
        } else {
            statement.encoding = .composeBare
        }
        index = lineEnd + 1
    }

    private mutating func note(_ value: Range<Int>) {
        if live.count <= DotEnvReader.maximumDiagnostics { live.append(value) }
    }

    /// Returns whether Compose would expand anything: `$` before a letter, underscore or brace.
    /// `$$` is an escaped `$`, and so is `\$` in double quotes.
    private func isLive(_ range: Range<Int>, hasEscapes: Bool) -> Bool {
        var position = range.lowerBound
        var dollars = 0
        while position < range.upperBound {
            let byte = text[position]
            if byte == Byte.dollar {
                dollars += 1
            } else if hasEscapes, byte == Byte.backslash, position + 1 < range.upperBound {
                position += 1
                dollars = text[position] == Byte.dollar ? dollars + 2 : 0
            } else {
                let starts = byte == Byte.leftBrace || (byte.isWord && !(byte &- 0x30 < 10))
                if dollars % 2 == 1, starts { return true }
                dollars = 0
            }
            position += 1
        }
        return false
    }
}
