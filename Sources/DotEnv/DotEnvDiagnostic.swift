/// A diagnostic about one place of a `.env` text, without any value.
package struct DotEnvDiagnostic: Sendable, Equatable, CustomStringConvertible {
    package let position: DotEnvPosition
    /// The variable, if its name is portable.
    package let key: String?
    /// A stable code of words joined by hyphens.
    package let code: Code

    /// The kinds of diagnostics. Codes with `differs-` are places where parsers of `.env` files
    /// disagree, codes with `ignored-` places that are skipped silently.
    package enum Code: String, Sendable, CaseIterable {
        /// A byte order mark, which some parsers include in the first name.
        case differsByteOrderMark = "differs-bom"
        /// A CR without LF, which is a line break for some parsers only.
        case differsLineEnding = "differs-line-ending"
        /// A `#` in a bare value without a space before it.
        case differsHashInValue = "differs-hash-in-value"
        /// Whitespace other than a space before a comment, around `=` or around a value.
        case differsWhitespace = "differs-whitespace"
        /// `export` with other whitespace than one space after it.
        case differsExport = "differs-export-tab"
        /// A quote inside a quoted value, or text after its closing quote.
        case differsQuoteInside = "differs-quote-inside"
        /// Backticks around a value.
        case differsBacktick = "differs-backtick"
        /// A backslash whose meaning depends on the parser.
        case differsEscape = "differs-escape"
        /// `$NAME`, `${…}`, `$$`, `\$`, `$(…)`, a backtick or `~`, which some parsers replace.
        case differsExpansion = "differs-expansion"
        /// `:` in place of `=`.
        case differsColon = "differs-colon"
        /// `=` or the value on another line than the name.
        case differsLineCrossing = "differs-line-crossing"
        /// An unterminated quote, after which parsers continue at different places.
        case differsUnterminatedQuote = "differs-unterminated-quote"
        /// A comment that some parsers read as an assignment.
        case differsComment = "differs-comment"
        /// A line that some parsers read as an assignment, or as a part of the next one.
        case differsExtraName = "differs-extra-name"
        /// A name that other parsers read differently.
        case differsName = "differs-name"
        /// `__proto__`, which JavaScript parsers lose.
        case differsPrototype = "differs-prototype-name"
        /// Text that a shell reads differently or would execute.
        case differsShell = "differs-shell"
        /// Text that Docker Compose reads differently or refuses.
        case differsCompose = "differs-compose"
        /// Another difference.
        case differsValue = "differs-value"
        /// A line without `=`, which is skipped.
        case ignoredNoEquals = "ignored-no-equals"
        /// A line that is not an assignment, which is skipped.
        case ignoredJunk = "ignored-junk"
        /// An unterminated quote: it is kept as a character and the value ends with the line.
        case ignoredUnterminatedQuote = "ignored-unterminated-quote"
        /// A bare value that goes on in the next line, where every parser cuts it.
        case cutValue = "cut-value"
        /// A name that is set again later.
        case duplicateKey = "duplicate-key"
        /// A name outside `[A-Za-z_][A-Za-z0-9_]*`.
        case nameNotPortable = "name-not-portable"
        /// `\n` in a text written by Vercel's CLI: a line break or a backslash and an n.
        case ambiguousLineBreak = "ambiguous-line-break"
        /// Text that Compose would expand and that is kept verbatim.
        case unexpanded = "unexpanded"
        /// There are more diagnostics than the limit.
        case truncated = "more-diagnostics"

        /// Whether parsers disagree here.
        package var isDisagreement: Bool { rawValue.hasPrefix("differs-") }
        package var isIgnored: Bool { rawValue.hasPrefix("ignored-") }
    }

    /// The diagnostic as a sentence.
    package var message: String { code.message }

    package var description: String {
        let name = key.map { " \($0):" } ?? ""
        return "\(position.line):\(position.column):\(name) \(code.rawValue): \(message)"
    }
}

extension DotEnvDiagnostic.Code {
    /// A fixed sentence, so that it cannot contain a value.
    package var message: String {
        switch self {
        case .differsByteOrderMark:
            "the file starts with a byte order mark; some parsers include it in the first name"
        case .differsLineEnding:
            "only some parsers end a line at a carriage return without a line feed"
        case .differsHashInValue:
            "some parsers end an unquoted value at # and some keep it; quote the value"
        case .differsWhitespace:
            "some parsers accept only spaces as whitespace here"
        case .differsExport:
            "some parsers accept export only with one space after it"
        case .differsQuoteInside:
            "parsers disagree about quotes inside the value or text after it"
        case .differsBacktick:
            "some parsers do not treat backticks as quotes"
        case .differsEscape:
            "parsers disagree about what this backslash means"
        case .differsExpansion:
            "some parsers expand part of this value, such as $NAME"
        case .differsColon:
            "some parsers do not accept : instead of ="
        case .differsLineCrossing:
            "some parsers do not accept a name and its value on different lines"
        case .differsUnterminatedQuote:
            "the quote is not closed; parsers disagree about where the value ends"
        case .differsComment:
            "some parsers read this comment as an assignment"
        case .differsExtraName:
            "not every parser ignores this line"
        case .differsName:
            "some parsers give this variable a different name or skip it"
        case .differsPrototype:
            "JavaScript parsers drop this name"
        case .differsShell:
            "a shell that sources the file reads this differently; quote the value"
        case .differsCompose:
            "Docker Compose reads this differently or rejects the file"
        case .differsValue:
            "parsers give this variable different values"
        case .ignoredNoEquals:
            "the line has no = and is ignored"
        case .ignoredJunk:
            "the line is not an assignment and is ignored"
        case .ignoredUnterminatedQuote:
            "the quote is not closed; the value includes the quote and ends at the end of the line"
        case .cutValue:
            "the line break ends the value, and the lines below that belong to it are skipped; quote the whole value"
        case .duplicateKey:
            "the variable is set again later; the last value is used"
        case .nameNotPortable:
            "the name is not portable: use letters, digits and _, and do not start with a digit"
        case .ambiguousLineBreak:
            "\\n or \\r is read as a line break, but the two characters may have been intended"
        case .unexpanded:
            "the value is kept as written and not expanded"
        case .truncated:
            "more diagnostics were omitted"
        }
    }
}
