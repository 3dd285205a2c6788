/// Escaping of text for roff.
enum Roff {
    /// Returns a text line without macros and escape sequences.
    static func line(_ text: String) -> String {
        let escaped = escaped(text)
        // A leading blank would break the previous line.
        return escaped.hasPrefix(".") || escaped.hasPrefix(" ") ? "\\&" + escaped : escaped
    }

    /// Returns an argument of an mdoc macro line that is never taken for a macro or punctuation.
    static func argument(_ text: String) -> String {
        let escaped = escaped(text).replacing("\"", with: "\\(dq")
        if escaped.contains(" ") { return "\"\(escaped)\"" }
        // Macros have two or three letters, punctuation is one character. Longer words stay
        // unchanged for programs that index pages by name.
        return text.utf8.count <= 3 ? "\\&" + escaped : escaped
    }

    static func arguments(_ texts: [String]) -> String {
        texts.map(argument).joined(separator: " ")
    }

    /// Escapes a text. Line breaks become blanks, since a new line could be a macro. Hyphens stay
    /// hyphens, so that options can be copied from a page.
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
