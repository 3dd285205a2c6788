/// A JavaScript regular expression of the supported subset, rewritten for PCRE2 so that it finds
/// the same.
///
/// Everything is spelled out: characters by number, classes by their ranges, line starts and ends
/// by look-around. So no default and no extra syntax of PCRE2 has an effect. As only whether there
/// is a match counts, groups do not capture and quantifiers need not be lazy.
struct PatternSource: Equatable {
    /// A longer pattern, in bytes, is not supported.
    static let maximumLength = 4096

    /// The expression for PCRE2, which must match at the start of the text.
    let expression: String
    /// The ranges in the longest class, which a matcher may compare one by one.
    let longestClass: Int
    /// The flag `u`: characters are scalars, not UTF-16 units.
    let isUnicode: Bool

    /// Rewrites `/…/flags` or a bare expression.
    ///
    /// - Returns: Nil if it is invalid or outside the subset.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let scalars = Array(text.unicodeScalars)
        var body = scalars[...]
        var flags: ArraySlice<Unicode.Scalar> = []
        if let parts = Self.parts(of: scalars) { (body, flags) = parts }
        guard Set(flags).count == flags.count else { return nil }
        var scanner = PatternScanner(body, flags: flags)
        guard let rewritten = scanner.rewritten() else { return nil }
        expression = ".*?(?:\(rewritten))"
        longestClass = scanner.longestClass
        isUnicode = scanner.isUnicode
    }

    /// The parts of `/…/flags`, or nil for another form.
    private static func parts(
        of scalars: [Unicode.Scalar]
    ) -> (body: ArraySlice<Unicode.Scalar>, flags: ArraySlice<Unicode.Scalar>)? {
        guard scalars.first == "/", let end = scalars.lastIndex(of: "/"), end > 1 else {
            return nil
        }
        let flags = scalars[(end + 1)...]
        let body = scalars[1..<end]
        guard flags.allSatisfy({ "gimsuy".unicodeScalars.contains($0) }),
            !body.contains(where: { PatternClass.lineEnds.contains($0.value) })
        else { return nil }
        return (body, flags)
    }
}
