internal import Sealing
internal import Searching

/// The comment above a key, without lines that may hold a value.
///
/// Names and comments can be read without the passphrase and are sent to Vercel.
struct PlaintextComment: Equatable {
    /// The remaining lines, separated by LF.
    private(set) var text: String
    /// Number of lines left out because they look like commented-out settings.
    let leftOut: Int
    /// Number of lines left out because they contain a value.
    private(set) var valuesLeftOut = 0

    /// Cleans a comment; nil if it has no words.
    init?(cleaning comment: String) {
        let lines = comment.split(separator: "\n", omittingEmptySubsequences: false)
        let kept = lines.filter { !Self.isAssignment($0) }
        leftOut = lines.count - kept.count
        // Lines without letters and digits are decoration.
        let words = kept.filter { $0.contains { $0.isLetter || $0.isNumber } }
        text = words.joined(separator: "\n")
        if text.isEmpty && leftOut == 0 { return nil }
    }

    /// Returns the comment without lines that contain a value or a part of a multi-line value.
    func removingLines(_ values: ValuePatterns) -> PlaintextComment {
        let found = Array(text.utf8).withBytes { values.ranges(in: $0) }
        if found.isEmpty { return self }
        var (kept, start) = ([Substring](), 0)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let range = start..<start + line.utf8.count
            if !found.contains(where: { $0.overlaps(range) }) { kept.append(line) }
            start = range.upperBound + 1
        }
        var comment = self
        comment.valuesLeftOut +=
            text.split(separator: "\n", omittingEmptySubsequences: false).count - kept.count
        comment.text = kept.joined(separator: "\n")
        return comment
    }

    /// Returns whether a line would set a variable without its `#`.
    private static func isAssignment(_ line: Substring) -> Bool {
        var rest = line.drop { $0 == " " || $0 == "\t" || $0 == "#" }
        if rest.hasPrefix("export ") { rest = rest.dropFirst(7).drop { $0 == " " } }
        let name = rest.utf8.prefix { $0 != 0x3D && $0 != 0x3A && $0 != 0x20 && $0 != 0x09 }
        let sign = rest.utf8.dropFirst(name.count).drop { $0 == 0x20 || $0 == 0x09 }.first
        // Sentences may begin with "word:", so before a colon only NAMES_LIKE_THIS count.
        let text = String(Substring(name))
        guard !text.isEmpty else { return false }
        if sign == 0x3D { return true }
        return sign == 0x3A && text.contains("_") && text == text.uppercased()
    }
}
