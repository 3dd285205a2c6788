/// A name as a word of a command line that people copy.
package enum ShellWord {
    /// Returns the text as one word of a Bourne-family shell: bare if harmless, otherwise in single
    /// quotes. Control characters and those that reorder text are escaped (`$'…\033…'`, which bash,
    /// zsh and POSIX 2024 support).
    package static func quoted(_ text: String) -> String {
        let isBare =
            !text.isEmpty && text.utf8.first != UInt8(ascii: "=")
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

    /// Returns the text in single quotes except for `'` and `\`, which get a backslash outside of
    /// them: bash, dash, zsh and fish read that alike.
    package static func singleQuoted(_ text: String) -> String {
        var (word, isQuoted) = (text.isEmpty ? "'" : "", text.isEmpty)
        for scalar in text.unicodeScalars {
            let isSpecial = scalar == "'" || scalar == "\\"
            if isSpecial == isQuoted {
                word += "'"
                isQuoted.toggle()
            }
            if isSpecial { word += "\\" }
            word.unicodeScalars.append(scalar)
        }
        return isQuoted ? word + "'" : word
    }

    /// Contains no quote, so that a shell without this form ends the word at the same place.
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

    /// Returns whether a terminal shows a character without side effects.
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
    /// Appends a name in a displayed command, as ``ShellWord/quoted(_:)`` writes it.
    package mutating func appendInterpolation(word text: String) {
        appendInterpolation(ShellWord.quoted(text))
    }
}
