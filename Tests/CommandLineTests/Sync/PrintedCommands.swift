/// The commands that a message prints for copying.
enum PrintedCommands {
    /// The arguments of every `zg-env …` in a text, in order, split as by a shell.
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

    /// The words up to the end of the command: a punctuation mark, a bracket, or the line's end.
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
