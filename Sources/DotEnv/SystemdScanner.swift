/// Reads as `EnvironmentFile=` of systemd does: a name up to `=`, then quoted stretches, then bare
/// text with backslashes up to the end of the line. `#` and `;` start comments only where a name
/// could start, and a backslash at the end of a comment takes the next line into it.
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

    /// The next variable, or nil at the end.
    mutating func next() -> Statement? {
        while true {
            while index < text.count, Self.isBlank(text[index]) { index += 1 }
            guard index < text.count else { return nil }
            if text[index] == Byte.hash || text[index] == UInt8(ascii: ";") {
                skipComment()
                continue
            }
            let start = index
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
            while keyEnd > start, Self.isBlank(text[keyEnd - 1]) { keyEnd -= 1 }
            // systemd keeps the first byte of a name in any case.
            if start == index {
                // A line that starts with `=` has it as the first byte of its name.
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
                keyEnd = index
                while keyEnd > start + 1, Self.isBlank(text[keyEnd - 1]) { keyEnd -= 1 }
            }
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

    /// The end of bare white space that is dropped, or nil if the value does not end so.
    private var bareEnd: Int?

    /// Moves over a value; true if a quote stays open.
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

    /// Moves over bare text, in which quotes mean nothing.
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
