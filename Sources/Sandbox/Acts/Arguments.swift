/// What stands behind a word and its colon: a word, or none, and then `name=value`, with commas
/// between them; percent-encoded, as a value may hold commas.
struct Arguments {
    /// The word in front; empty when there is none.
    let first: String
    let named: [String: String]

    /// Reads a text; `nil` for other names, for a name that comes twice, and for a stray `%`.
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
