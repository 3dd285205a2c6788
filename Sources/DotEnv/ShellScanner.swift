/// Parses assignments like bash when it sources a file, and refuses everything that would execute,
/// expand or redirect: commands, `$NAME`, `$(…)`, backticks, `~`, arrays and `+=`.
struct ShellScanner {
    private let text: SourceText
    private var index = 0
    /// Whether the current command is `export`, so that names may stand alone.
    private var isExport = false
    /// Names that are exported without a value.
    private(set) var ignored: [Range<Int>] = []
    private var commandStart = 0
    /// Whether the current `export` has a name; without one it would print the environment.
    private var hasExported = false

    /// Whether errors have a position, which costs a pass over the text.
    private let locates: Bool

    init(_ text: SourceText, locates: Bool = true) {
        self.text = text
        self.locates = locates
    }

    private func refusal(
        _ reason: String, at offset: Int, _ code: DotEnvError.Code = .wouldExecute
    ) -> DotEnvError {
        locates
            ? text.failure(code, reason, at: offset) : DotEnvError(code, reason, offset: offset)
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case Byte.space, Byte.tab, Byte.lineFeed, UInt8(ascii: ";"), UInt8(ascii: "&"),
            UInt8(ascii: "|"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("),
            UInt8(ascii: ")"):
            return true
        default:
            return false
        }
    }

    /// Returns the next assignment, or nil at the end.
    ///
    /// - Throws: ``DotEnvError`` with `wouldExecute`, or `refused` for an unclosed quote.
    mutating func next() throws(DotEnvError) -> Statement? {
        while index < text.count {
            let byte = text[index]
            switch byte {
            case Byte.space, Byte.tab:
                index += 1
            case Byte.backslash where text[index + 1] == Byte.lineFeed:
                index += 2
            case Byte.lineFeed:
                try endCommand()
                index += 1
            case UInt8(ascii: ";"):
                guard hasCommand else {
                    throw refusal(
                        "a shell rejects ; unless a command comes before it", at: index)
                }
                try endCommand()
                hasCommand = false
                index += 1
                continue
            case Byte.hash:
                index = text.firstIndex(of: Byte.lineFeed, from: index, to: text.count)
            default:
                hasCommand = true
                if let statement = try word() { return statement }
                continue
            }
            if byte == Byte.lineFeed { hasCommand = false }
        }
        try endCommand()
        return nil
    }

    /// Continues after the line of a refusal at `offset`.
    mutating func skipLine(from offset: Int) {
        index = text.firstIndex(
            of: Byte.lineFeed, from: max(index, min(offset, text.count)), to: text.count)
        if index < text.count { index += 1 }
        isExport = false
        hasExported = false
        hasCommand = false
    }

    private mutating func endCommand() throws(DotEnvError) {
        if isExport, !hasExported {
            throw refusal("a shell would print the environment here", at: commandStart)
        }
        isExport = false
        hasExported = false
    }

    /// Whether a command precedes the current position on the line.
    private var hasCommand = false

    private mutating func word() throws(DotEnvError) -> Statement? {
        let start = index
        var nameEnd = start
        while text[nameEnd].isWord { nameEnd += 1 }
        let isName = nameEnd > start && !(text[start] &- 0x30 < 10)
        if isName, text[nameEnd] == Byte.equals {
            let value = nameEnd + 1
            if text[value] == UInt8(ascii: "(") {
                throw refusal("a shell would read an array here", at: value)
            }
            index = value
            try readWord()
            try checkEnd()
            hasExported = true
            let extentStart = isExport ? commandStart : start
            return Statement(
                key: start..<nameEnd, value: value..<index, encoding: .shell,
                extent: extentStart..<index)
        }
        let isAlone = nameEnd >= text.count || Self.endsWord(text[nameEnd])
        if isName, isAlone, isExport {
            if ignored.count <= DotEnvReader.maximumDiagnostics { ignored.append(start..<nameEnd) }
            index = nameEnd
            hasExported = true
            try checkEnd()
            return nil
        }
        if !isExport, nameEnd == start + 6, isAlone, text.has("export", at: start),
            !hasAssignment
        {
            isExport = true
            commandStart = start
            index = nameEnd
            try checkEnd()
            return nil
        }
        throw refusal("a shell would run a command here", at: start)
    }

    /// Whether an assignment precedes in the same command, so that `export` would be a command with
    /// a changed environment.
    private var hasAssignment: Bool {
        var position = index
        while position > 0 {
            let byte = text[position - 1]
            if byte == Byte.lineFeed {
                // An even number are escaped backslashes, and the line ends here.
                var start = position - 1
                while start > 0, text[start - 1] == Byte.backslash { start -= 1 }
                guard (position - 1 - start) % 2 == 1 else { return false }
                position -= 2
            } else if byte == Byte.space || byte == Byte.tab {
                position -= 1
            } else {
                return byte != UInt8(ascii: ";")
            }
        }
        return false
    }

    /// Refuses the end of a word other than whitespace or `;`.
    private func checkEnd() throws(DotEnvError) {
        let byte = text[index]
        if byte != Byte.space, byte != Byte.tab, byte != Byte.lineFeed,
            byte != UInt8(ascii: ";"), Self.endsWord(byte)
        {
            throw refusal("a shell would run or redirect something here", at: index)
        }
    }

    /// Skips the rest of a word.
    private mutating func readWord() throws(DotEnvError) {
        let start = index
        while index < text.count, !Self.endsWord(text[index]) {
            switch text[index] {
            case Byte.backslash:
                // What bash makes of a final backslash depends on what came before.
                guard index + 1 < text.count else {
                    throw refusal("the text ends with a backslash", at: index, .refused)
                }
                index += 2
            case Byte.singleQuote:
                let close = text.firstIndex(
                    of: Byte.singleQuote, from: index + 1, to: text.count)
                guard close < text.count else {
                    throw refusal("the quote is not closed", at: index, .refused)
                }
                index = close + 1
            case Byte.doubleQuote:
                try readDoubleQuoted()
            case Byte.dollar:
                try refuseExpansion(isQuoted: false)
                index += 1
            case Byte.backtick:
                throw refusal("a shell would run a command here", at: index)
            case UInt8(ascii: "~")
            where index == start || text[index - 1] == Byte.colon
                || text[index - 1] == Byte.lineFeed:
                // A line feed is only here after a backslash, and bash drops both.
                throw refusal("a shell would expand ~ here", at: index)
            case Byte.leftBrace where isExport:
                // Unlike in a plain assignment, bash may expand braces in an argument of export.
                throw refusal("a shell would expand braces here", at: index)
            default:
                index += 1
            }
        }
    }

    private mutating func readDoubleQuoted() throws(DotEnvError) {
        let open = index
        index += 1
        while index < text.count, text[index] != Byte.doubleQuote {
            switch text[index] {
            case Byte.backslash:
                index += 2
            case Byte.dollar:
                try refuseExpansion(isQuoted: true)
                index += 1
            case Byte.backtick:
                throw refusal("a shell would run a command here", at: index)
            default:
                index += 1
            }
        }
        guard index < text.count else {
            throw refusal("the quote is not closed", at: open, .refused)
        }
        index += 1
    }

    /// Refuses a `$` with a meaning. Before any other character it is literal.
    private func refuseExpansion(isQuoted: Bool) throws(DotEnvError) {
        var next = index + 1
        while text[next] == Byte.backslash, text[next + 1] == Byte.lineFeed { next += 2 }
        let byte = text[next]
        let special: Bool
        switch byte {
        case Byte.leftBrace, UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "*"),
            UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "?"), UInt8(ascii: "-"),
            UInt8(ascii: "!"), Byte.dollar:
            special = true
        case Byte.singleQuote, Byte.doubleQuote:
            special = !isQuoted
        default:
            special = byte.isWord
        }
        if special { throw refusal("a shell would expand something here", at: index) }
    }
}
