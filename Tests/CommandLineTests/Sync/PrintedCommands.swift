/// The commands that a message prints to be copied.
enum PrintedCommands {
    /// The arguments of every `zg-env …` of a text, in its order, split as a shell would.
    static func all(in text: String) -> [[String]] {
        text.split(separator: "\n").flatMap { line in
            line.ranges(of: "zg-env ").compactMap { range -> [String]? in
                let before = line[..<range.lowerBound].last
                guard before == nil || before == " " || before == "(" else { return nil }
                let words = words(line[range.upperBound...])
                // `zg-env: …` begins a message, and `zg-env PROGRAM` would be prose.
                let isCommand = words.first?.allSatisfy { $0.isLowercase || $0 == "-" } ?? false
                return isCommand ? words : nil
            }
        }
    }

    /// The words up to the end of the command: a sign that ends a clause, a bracket, or the line.
    private static func words(_ text: Substring) -> [String] {
        var words: [String] = []
        var rest = text
        while let first = rest.first {
            if first == " " || first == "(" { return words }
            var word = ""
            var isQuoted = false
            var mayEnd = false
            while let next = rest.first, isQuoted || next != " " {
                rest.removeFirst()
                if next == "'" {
                    isQuoted.toggle()
                    mayEnd = false
                } else if next == "\\", !isQuoted, let escaped = rest.first {
                    rest.removeFirst()
                    word.append(escaped)
                } else {
                    word.append(next)
                    mayEnd = !isQuoted && ".,;:)".contains(next)
                }
            }
            if mayEnd { word.removeLast() }
            words.append(word)
            if mayEnd { return words }
            rest = rest.dropFirst()
        }
        return words
    }
}
