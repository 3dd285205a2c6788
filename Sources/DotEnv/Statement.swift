/// How the source bytes of a name or value are decoded.
package enum DotEnvEncoding: UInt8, Sendable {
    /// Unchanged.
    case verbatim
    /// CR LF and CR become LF.
    case lineBreaks
    /// As `lineBreaks`, then `\n` and `\r` are unescaped.
    case lineBreakEscapes
    /// As `verbatim`, but without quotes around stretches between U+2028 and U+2029.
    case separated
    /// As `separated`, then `\n` and `\r` are unescaped.
    case separatedEscapes
    /// Without CRs.
    case withoutReturns
    /// Without CRs, then `\n` becomes LF.
    case withoutReturnsEscapes
    /// Single quotes of python-dotenv.
    case pythonSingle
    /// Double quotes of python-dotenv.
    case pythonDouble
    /// Everything after `=` for systemd.
    case systemd
    /// A bare value of Compose, with `$$` for `$`.
    case composeBare
    /// Single quotes of Compose.
    case composeSingle
    /// Double quotes of Compose.
    case composeDouble
    /// Double quotes of Compose around a text with live expansions, which stay verbatim.
    case composeDoubleLive
    /// A word of a shell.
    case shell
    /// Double quotes of JSON or YAML.
    case quoted
    /// Single quotes of YAML.
    case yamlSingle
    /// A literal block of YAML, from its `|` to the end of its last line.
    case yamlBlock
}

/// An assignment found by a scanner. All offsets are into the bytes as given.
struct Statement {
    var key: Range<Int>
    var keyEncoding = DotEnvEncoding.verbatim
    /// The value; meaningless if `hasValue` is false.
    var value: Range<Int>
    /// The value with its quotes; empty in dialects that do not track it.
    var literal = 0..<0
    var encoding = DotEnvEncoding.verbatim
    /// False for a name alone, which some parsers report.
    var hasValue = true
    /// Whether the value starts with an unclosed quote.
    var isUnterminated = false
    /// From the first byte (`export`, or the name) to the last before the end of the line.
    var extent: Range<Int>
}
