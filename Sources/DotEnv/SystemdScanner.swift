/// Parses like `EnvironmentFile=` of systemd: a name up to `=`, then quoted stretches, then bare
/// text with backslashes up to the end of the line. `#` and `;` start comments only where a name
/// could start, and a backslash at the end of a comment continues it on the next line.
struct SystemdScanner {
    private let text: SourceText
    private var index = 0
    /// Lines without `=`, which systemd skips.
    private(set) var ignored: [Range<Int>] = []

    init(_ text: SourceText) {
        self.text = text
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == Byte.space || byte == Byte.tab || isBreak(byte)
    }

    private static func isBreak(_ byte: UInt8) -> Bool {
        byte == Byte.lineFeed || byte == Byte.carriageReturn
    }

    /// Returns the next variable, or nil at the end.
    mutating func next() -> Statement? {
        while true {
            while index < text.count, Self.isBlank(text[index]) { index += 1 }
            guard index < text.count else { return nil }
            if text[index] == Byte.hash || text[index] == UInt8(ascii: ";") {
                skipComment()
                continue
            }
            let start = index
            // systemd accepts any first byte of a name, also `=`.
            index += 1
            while index < text.count, text[index] != Byte.equals, !Self.isBreak(text[index]) {
                index += 1
            }
            guard text[index] == Byte.equals else {
                if ignored.count <= DotEnvReader.maximumDiagnostics {
                    ignored.append(start..<index)
                }
                continue
            }
            var keyEnd = index
            while keyEnd > start + 1, Self.isBlank(text[keyEnd - 1]) { keyEnd -= 1 }
            let value = index + 1
            index = value
            let isOpen = readValue()
            let end = trimmedEnd(value)
            return Statement(
                key: start..<keyEnd, value: value..<end.value, encoding: .systemd,
                isUnterminated: isOpen, extent: start..<end.statement)
        }
    }

    private mutating func skipComment() {
        while index < text.count, !Self.isBreak(text[index]) {
            index += text[index] == Byte.backslash ? 2 : 1
        }
        index = min(index, text.count)
    }

    /// The end of dropped trailing whitespace; nil if the value does not end so.
    private var bareEnd: Int?

    /// Skips a value; returns true if a quote stays open.
    private mutating func readValue() -> Bool {
        bareEnd = nil
        while index < text.count {
            let byte = text[index]
            if Self.isBreak(byte) { return false }
            if byte == Byte.singleQuote {
                index = text.firstIndex(of: Byte.singleQuote, from: index + 1, to: text.count)
                if index >= text.count { return true }
                index += 1
            } else if byte == Byte.doubleQuote {
                index += 1
                while index < text.count, text[index] != Byte.doubleQuote {
                    index += text[index] == Byte.backslash ? 2 : 1
                }
                if index >= text.count {
                    index = text.count
                    return true
                }
                index += 1
            } else if byte == Byte.space || byte == Byte.tab {
                index += 1
            } else {
                readBare()
                return false
            }
        }
        return false
    }

    /// Skips bare text, in which quotes are ordinary characters.
    private mutating func readBare() {
        var lastSolid = index
        while index < text.count, !Self.isBreak(text[index]) {
            if text[index] == Byte.backslash {
                index = min(index + 2, text.count)
                lastSolid = index
            } else {
                index += 1
                if !Self.isBlank(text[index - 1]) { lastSolid = index }
            }
        }
        bareEnd = lastSolid
    }

    private func trimmedEnd(_ start: Int) -> (value: Int, statement: Int) {
        (max(start, bareEnd ?? index), index)
    }
}
