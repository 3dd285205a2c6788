/// A name as a word of a command line that people copy, or give to a shell.
package enum ShellWord {
    /// The text as a shell of the Bourne family reads it back, as one word: bare where that is harmless,
    /// else in single quotes. What a terminal does not show as it is, such as control characters and those
    /// that reorder text, is escaped (`$'…\033…'`, which bash, zsh and POSIX of 2024 know).
    package static func quoted(_ text: String) -> String {
        let isBare =
            !text.isEmpty && text.utf8.first != Byte.equals
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                    UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"),
                    UInt8(ascii: ","), UInt8(ascii: "+"), UInt8(ascii: "="):
                    true
                default: false
                }
            }
        if isBare { return text }
        guard text.unicodeScalars.allSatisfy(isShown) else { return escaped(text) }
        return singleQuoted(text)
    }

    /// The text in single quotes, in which nothing has a meaning; a single quote stands outside of them.
    package static func singleQuoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }

    /// No quote is inside: a shell that does not know the form ends the word where the others do.
    private static func escaped(_ text: String) -> String {
        var word = "$'"
        for scalar in text.unicodeScalars {
            if isShown(scalar), scalar != "'", scalar != "\\" {
                word.unicodeScalars.append(scalar)
                continue
            }
            for byte in String(scalar).utf8 {
                let digits = String(byte, radix: 8)
                word += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return word + "'"
    }

    /// Whether a terminal shows a character, and nothing else comes of it.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}

extension DefaultStringInterpolation {
    /// A name within a command that is shown, as ``ShellWord/quoted(_:)`` writes it.
    package mutating func appendInterpolation(word text: String) {
        appendInterpolation(ShellWord.quoted(text))
    }
}
