internal import Sealing
internal import Searching

/// A comment above a key, for people who list variables: names and comments open without the
/// passphrase and go to the platform, so what may be a value stays out.
struct PlaintextComment: Equatable {
    /// Lines joined by LF; empty where all were left out.
    private(set) var text: String
    /// How many lines were left out, since they look like settings that were switched off.
    let leftOut: Int
    /// How many lines were left out, since they hold a value.
    private(set) var valuesLeftOut = 0

    /// nil for a comment without a word.
    init?(cleaning comment: String) {
        let lines = comment.split(separator: "\n", omittingEmptySubsequences: false)
        let kept = lines.filter { !Self.isAssignment($0) }
        leftOut = lines.count - kept.count
        // A rule of signs is decoration.
        let words = kept.filter { $0.contains { $0.isLetter || $0.isNumber } }
        text = words.joined(separator: "\n")
        if text.isEmpty && leftOut == 0 { return nil }
    }

    /// The comment without the lines that hold one of the values, or a part of one that goes over
    /// several lines.
    func leavingOut(_ values: ValuePatterns) -> PlaintextComment {
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

    /// Whether a line would set a variable without its `#`.
    private static func isAssignment(_ line: Substring) -> Bool {
        var rest = line.drop { $0 == " " || $0 == "\t" || $0 == "#" }
        if rest.hasPrefix("export ") { rest = rest.dropFirst(7).drop { $0 == " " } }
        let name = rest.utf8.prefix { $0 != 0x3D && $0 != 0x3A && $0 != 0x20 && $0 != 0x09 }
        let sign = rest.utf8.dropFirst(name.count).drop { $0 == 0x20 || $0 == 0x09 }.first
        // A word and a colon is how sentences begin; only capitals are taken for a name there.
        let text = String(Substring(name))
        guard !text.isEmpty else { return false }
        if sign == 0x3D { return true }
        return sign == 0x3A && text.contains("_") && text == text.uppercased()
    }
}
