/// Text as roff takes it.
enum Roff {
    /// A text line: nothing in it is a macro or an escape.
    static func line(_ text: String) -> String {
        let escaped = escaped(text)
        // A leading blank would end the line before.
        return escaped.hasPrefix(".") || escaped.hasPrefix(" ") ? "\\&" + escaped : escaped
    }

    /// One argument of an mdoc macro line: never read as a macro's name or as punctuation.
    static func argument(_ text: String) -> String {
        let escaped = escaped(text).replacing("\"", with: "\\(dq")
        if escaped.contains(" ") { return "\"\(escaped)\"" }
        // Names of macros have two or three letters, punctuation is one character. Longer words are
        // left alone: programs that index pages look for bare names.
        return text.utf8.count <= 3 ? "\\&" + escaped : escaped
    }

    /// Several arguments.
    static func arguments(_ texts: [String]) -> String {
        texts.map(argument).joined(separator: " ")
    }

    /// Control characters and line breaks would begin a line of their own: they are made blanks.
    /// Hyphens stay hyphens, so that options can be copied from a page.
    private static func escaped(_ text: String) -> String {
        DisplayText.safe(text).unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "`": result += "\\(ga"
            case "'": result += "\\(aq"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            default:
                if scalar.isASCII {
                    result.unicodeScalars.append(scalar)
                } else {
                    let digits = String(scalar.value, radix: 16, uppercase: true)
                    let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
                    result += "\\[u\(zeros)\(digits)]"
                }
            }
        }
    }
}
