extension DisplayText {
    /// Returns the number of terminal columns of a text: two for wide characters and emoji, none for
    /// combining marks. Control characters count as none.
    package static func width(_ text: String) -> Int {
        if isPlain(text) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    /// Returns the columns of a grapheme cluster.
    static func width(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        // A flag is a pair of regional indicators; each alone has one column.
        if (0x1F1E6...0x1F1FF).contains(first.value) { return 2 }
        if scalars.contains(where: { $0.value == 0xFE0F }), first.properties.isEmoji { return 2 }
        return scalars.reduce(0) { max($0, width($1)) }
    }

    /// Returns the columns of a scalar, or nil for one that is unsafe to show. It makes no string, so
    /// that secrets can be measured.
    package static func width(ofSafe scalar: Unicode.Scalar) -> Int? {
        isUnsafe(scalar) ? nil : width(scalar)
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator,
            .paragraphSeparator:
            return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return isWide(scalar.value) ? 2 : 1
    }

    /// Whether Unicode's East_Asian_Width is Wide or Fullwidth (UAX #11), emoji aside.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case ..<0x1100: false
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF: true
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97C: true
        case 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F: true
        case 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF: true
        case 0x1F200...0x1F265, 0x20000...0x3FFFD: true
        default: false
        }
    }

    /// Returns the text cut to a number of columns, with `…` at the cut.
    package static func truncated(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns > 0 else { return "" }
        var kept = ""
        var used = 0
        for character in text {
            let width = width(character)
            guard used + width <= columns - 1 else { break }
            kept.append(character)
            used += width
        }
        return trimmed(kept) + "…"
    }

    /// Returns a text whose longer lines are broken at blanks, with the rest indented.
    package static func folded(_ text: String, to columns: Int, indent: Int = 4) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { source in
            guard width(String(source)) > columns else { return String(source) }
            var lines: [String] = []
            var line: String?
            for word in source.split(separator: " ", omittingEmptySubsequences: false) {
                guard let begun = line else {
                    line = String(word)
                    continue
                }
                let isFull = width(begun) + 1 + width(String(word)) > columns
                if !word.isEmpty, isFull, begun.contains(where: { $0 != " " }) {
                    lines.append(trimmed(begun))
                    line = String(repeating: " ", count: indent) + word
                } else {
                    line = "\(begun) \(word)"
                }
            }
            return (lines + [trimmed(line ?? "")]).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// Returns a text without blanks at its end.
    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }

    /// Returns the text padded with blanks to a number of columns.
    package static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }

    /// Returns the lines of a text wrapped to a number of columns; a longer word gets its own line.
    ///
    /// Blank lines separate paragraphs. Lines that start with a blank are kept unchanged.
    package static func wrapped(_ text: String, to columns: Int) -> [String] {
        guard !text.isEmpty else { return [] }
        var lines: [String] = []
        var line = ""
        func endLine() {
            if !line.isEmpty { lines.append(line) }
            line = ""
        }
        for source in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if source.isEmpty || source.first == " " {
                endLine()
                lines.append(String(source))
                continue
            }
            for word in source.split(separator: " ") {
                if !line.isEmpty, width(line) + 1 + width(String(word)) > columns { endLine() }
                line += line.isEmpty ? String(word) : " \(word)"
            }
        }
        endLine()
        return lines
    }
}
