/// Makes text from the network fit to be shown.
package enum UntrustedText {
    /// What stands in place of a text that repeats a value.
    package static let withheld = "(withheld, for it repeats a value)"
    /// What stands in place of a text that could not be held against the values.
    package static let unchecked = "(not shown, for it may repeat a value)"
    /// The longest message that is kept, in characters of Unicode.
    package static let maximumLength = 300

    /// The text without control, format and direction characters, on one line, and shortened; withheld
    /// if it repeats a secret, or could not be held against those that it may repeat.
    static func message(_ text: String, _ secrets: AnswerSecrets) -> String? {
        let clean = cleaned(text)
        guard !clean.isEmpty else { return nil }
        guard secrets.canCheck else { return unchecked }
        if secrets.repeats(text) { return withheld }
        var scalars = clean.unicodeScalars
        guard scalars.count > maximumLength else { return clean }
        scalars.removeLast(scalars.count - maximumLength)
        return String(scalars) + "…"
    }

    /// The text if it is a name that was sent, or a plain word such as a host's name that repeats no
    /// secret.
    static func word(_ text: String, _ secrets: AnswerSecrets) -> String? {
        if secrets.names.contains(text) { return text }
        let isPlain = text.utf8.allSatisfy { byte in
            isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ":")
        }
        guard isPlain, (1...250).contains(text.utf8.count), secrets.canCheck,
            !secrets.repeats(text)
        else { return nil }
        return text
    }

    /// An error's code such as `ENV_CONFLICT`. Where it could not be held against the values, it is what
    /// codes are, letters and underscores.
    static func code(_ text: String, _ secrets: AnswerSecrets) -> String? {
        if secrets.canCheck { return word(text, secrets) }
        guard (1...60).contains(text.utf8.count), text.utf8.allSatisfy(isLetter),
            !secrets.repeats(text)
        else { return nil }
        return text
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    /// The text if it is a name that was sent; else as a message, if it could be checked.
    static func name(_ text: String, _ secrets: AnswerSecrets) -> String? {
        if secrets.names.contains(text) { return text }
        return secrets.canCheck ? message(text, secrets) : nil
    }

    private static func cleaned(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(8 * maximumLength) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator,
                .privateUse, .surrogate, .unassigned:
                // A blank in its place keeps words apart; two in a row are one too many.
                if let last = clean.last, last != " " { clean.append(" ") }
            default: clean.append(scalar)
            }
        }
        while clean.last == " " { clean.removeLast() }
        return String(clean)
    }
}
