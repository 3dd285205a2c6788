/// The arguments of a word: an optional first word, then `name=value` pairs separated by commas and
/// percent-encoded.
struct Arguments {
    /// Empty if absent.
    let first: String
    let named: [String: String]

    /// Returns `nil` for unknown or repeated names, and for a stray `%`.
    init?(_ text: String, names: Set<String>) {
        var pieces = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        var word = ""
        if let piece = pieces.first, !piece.contains("=") {
            guard let decoded = PercentCoding.decoded(piece, form: false) else { return nil }
            word = decoded
            pieces = pieces.dropFirst()
        }
        first = word
        var named: [String: String] = [:]
        for piece in pieces {
            let sides = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, names.contains(String(sides[0])),
                named[String(sides[0])] == nil,
                let value = PercentCoding.decoded(sides[1], form: false)
            else { return nil }
            named[String(sides[0])] = value
        }
        self.named = named
    }
}
