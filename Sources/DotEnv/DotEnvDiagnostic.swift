/// Something about a text that its owner should know, with its place and without any value.
package struct DotEnvDiagnostic: Sendable, Equatable, CustomStringConvertible {
    /// Where it is.
    package let position: DotEnvPosition
    /// The variable, where there is one whose name is portable.
    package let key: String?
    /// What it is; stable, in words joined by hyphens.
    package let code: Code

    /// The kinds of diagnostics. Raw values that begin with `differs-` are places where readers of
    /// `.env` files disagree, with `ignored-` places that are skipped without a word.
    package enum Code: String, Sendable, CaseIterable {
        /// A byte order mark, which some readers take into the first name.
        case differsByteOrderMark = "differs-bom"
        /// A CR without LF, which is a line break for some readers only.
        case differsLineEnding = "differs-line-ending"
        /// A `#` in a bare value without a space before it.
        case differsHashInValue = "differs-hash-in-value"
        /// White space other than a space before a comment, around `=` or around a value.
        case differsWhitespace = "differs-whitespace"
        /// `export` with other white space than one space after it.
        case differsExport = "differs-export-tab"
        /// A quote inside a quoted value, or text after its closing quote.
        case differsQuoteInside = "differs-quote-inside"
        /// Backticks around a value.
        case differsBacktick = "differs-backtick"
        /// A backslash whose meaning depends on the reader.
        case differsEscape = "differs-escape"
        /// `$NAME`, `${…}`, `$$`, `\$`, `$(…)`, a backtick or `~`, which some readers replace.
        case differsExpansion = "differs-expansion"
        /// `:` in place of `=`.
        case differsColon = "differs-colon"
        /// `=` or the value on another line than the name.
        case differsLineCrossing = "differs-line-crossing"
        /// A quote without an end, after which readers go on at different places.
        case differsUnterminatedQuote = "differs-unterminated-quote"
        /// A comment that some readers take as an assignment.
        case differsComment = "differs-comment"
        /// A line that some readers take as an assignment, or as a part of the next one.
        case differsExtraName = "differs-extra-name"
        /// A name that other readers take in another way.
        case differsName = "differs-name"
        /// `__proto__`, which readers in JavaScript lose.
        case differsPrototype = "differs-prototype-name"
        /// What a shell that sources the file takes in another way, or would run.
        case differsShell = "differs-shell"
        /// What Docker Compose takes in another way, or refuses the file for.
        case differsCompose = "differs-compose"
        /// Another difference.
        case differsValue = "differs-value"
        /// A line without `=`, which is skipped.
        case ignoredNoEquals = "ignored-no-equals"
        /// A line that is no assignment, which is skipped.
        case ignoredJunk = "ignored-junk"
        /// A quote without an end: it is kept as a character and the value ends with the line.
        case ignoredUnterminatedQuote = "ignored-unterminated-quote"
        /// A name that is set again further down.
        case duplicateKey = "duplicate-key"
        /// A name outside `[A-Za-z_][A-Za-z0-9_]*`.
        case nameNotPortable = "name-not-portable"
        /// `\n` in a text written by Vercel's CLI: a line break or a backslash and an n.
        case ambiguousLineBreak = "ambiguous-line-break"
        /// A text that Compose would expand and that is kept as it is.
        case unexpanded = "unexpanded"
        /// There are more diagnostics than are kept.
        case truncated = "more-diagnostics"

        /// Whether readers disagree here.
        package var isDisagreement: Bool { rawValue.hasPrefix("differs-") }
        /// Whether something is skipped here.
        package var isIgnored: Bool { rawValue.hasPrefix("ignored-") }
    }

    /// What it is, as a sentence for people.
    package var message: String { code.message }

    package var description: String {
        let name = key.map { " \($0):" } ?? ""
        return "\(position.line):\(position.column):\(name) \(code.rawValue): \(message)"
    }
}

extension DotEnvDiagnostic.Code {
    /// The sentence for people. It is fixed, so that it cannot hold a value.
    package var message: String {
        switch self {
        case .differsByteOrderMark:
            "a byte order mark starts the file; some readers take it into the first name"
        case .differsLineEnding:
            "a carriage return without a line feed ends a line for some readers only"
        case .differsHashInValue:
            "some readers end a bare value at # and some keep it; put the value in quotes"
        case .differsWhitespace:
            "some readers take only the space as white space here"
        case .differsExport:
            "some readers know export only with one space after it"
        case .differsQuoteInside:
            "readers disagree about quotes inside the value or text after it"
        case .differsBacktick:
            "some readers do not know backticks as quotes"
        case .differsEscape:
            "readers disagree about what this backslash means"
        case .differsExpansion:
            "some readers expand a part of this value, such as $NAME"
        case .differsColon:
            "some readers do not take : in place of ="
        case .differsLineCrossing:
            "some readers do not look for the value on another line"
        case .differsUnterminatedQuote:
            "the quote is not closed; readers disagree about where the value ends"
        case .differsComment:
            "some readers take this comment as an assignment"
        case .differsExtraName:
            "some readers take this as a variable, or as a part of the next name"
        case .differsName:
            "some readers give this variable another name or none"
        case .differsPrototype:
            "readers in JavaScript drop this name"
        case .differsShell:
            "a shell that sources the file takes this in another way; put the value in quotes"
        case .differsCompose:
            "Docker Compose takes this in another way, or refuses the file"
        case .differsValue:
            "readers give this variable different values"
        case .ignoredNoEquals:
            "the line has no = and is skipped"
        case .ignoredJunk:
            "the line is no assignment and is skipped"
        case .ignoredUnterminatedQuote:
            "the quote is not closed; it is kept and the value ends with the line"
        case .duplicateKey:
            "the name is set again further down, and the last value counts"
        case .nameNotPortable:
            "the name is not made of letters, digits and underscores alone"
        case .ambiguousLineBreak:
            "\\n or \\r is read as a line break, but may have been the two characters"
        case .unexpanded:
            "the text is kept as it stands and not expanded"
        case .truncated:
            "there are more diagnostics than are listed"
        }
    }
}
