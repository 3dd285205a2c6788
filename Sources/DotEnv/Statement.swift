/// How the bytes of a name or value in the source turn into the bytes that a program sees.
package enum DotEnvEncoding: UInt8, Sendable {
    /// As they stand.
    case verbatim
    /// CR LF and CR become LF.
    case lineBreaks
    /// As `lineBreaks`, then `\n` and `\r` become the characters.
    case lineBreakEscapes
    /// As `verbatim`, but quotes around stretches between U+2028 and U+2029 go.
    case separated
    /// As `separated`, and `\n` and `\r` become the characters.
    case separatedEscapes
    /// Every CR goes.
    case withoutReturns
    /// Every CR goes, then `\n` becomes LF.
    case withoutReturnsEscapes
    /// Single quotes of python-dotenv.
    case pythonSingle
    /// Double quotes of python-dotenv.
    case pythonDouble
    /// All that follows `=` for systemd.
    case systemd
    /// A bare value of Compose, with `$$` for `$`.
    case composeBare
    /// Single quotes of Compose.
    case composeSingle
    /// Double quotes of Compose.
    case composeDouble
    /// Double quotes of Compose around a text with live expansions, which stay as they are.
    case composeDoubleLive
    /// A word of a shell.
    case shell
}

/// One assignment as a scanner found it. All offsets are into the bytes as given.
struct Statement {
    /// The name.
    var key: Range<Int>
    /// How the name is written.
    var keyEncoding = DotEnvEncoding.verbatim
    /// The value; where there is none at all, `hasValue` is false.
    var value: Range<Int>
    /// The value with the quotes around it; empty where a dialect does not track it.
    var literal = 0..<0
    /// How the value is written.
    var encoding = DotEnvEncoding.verbatim
    /// False for a name alone, which some readers report.
    var hasValue = true
    /// A quote starts the value and none ends it.
    var isUnterminated = false
    /// From the first byte (`export`, or the name) to the last before the end of the line.
    var extent: Range<Int>
}
