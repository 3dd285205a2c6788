/// The function that a text with `$KEY`, `${KEY}`, `${KEY:-text}` or `$(command)` stands for.
struct SpecReference: Equatable {
    /// `ref`, `fallback`, `exec`, or `concat` if there is anything around it.
    var function: String
    /// The key of a `ref`.
    var key: String?

    /// Nil if the text contains nothing of the kind. Reads each byte a bounded number of times.
    init?(in text: [UInt8]) {
        var search = Search(text: text)
        guard let first = search.first() else { return nil }
        guard first.range == text.startIndex..<text.endIndex else {
            function = "concat"
            return
        }
        function = first.function
        key = first.key.map { String(decoding: text[$0], as: UTF8.self) }
    }

    private struct Match {
        var range: Range<Int>
        var function: String
        var key: Range<Int>?
    }

    private struct Search {
        let text: [UInt8]
        /// Whether there may be a `}` further on, so that it is not searched for again.
        var hasBrace = true
        /// Whether a command may be closed. The other tool gives up at the first that is not.
        var closesCommands = true

        func byte(_ index: Int) -> UInt8 { index < text.count ? text[index] : 0 }

        mutating func first() -> Match? {
            for index in text.indices where text[index] == UInt8(ascii: "$") {
                if index > 0, text[index - 1] == UInt8(ascii: "\\") { continue }
                if let match = match(at: index) { return match }
            }
            return nil
        }

        private mutating func match(at start: Int) -> Match? {
            switch byte(start + 1) {
            case UInt8(ascii: "("): return command(at: start)
            case UInt8(ascii: "{"): return braced(at: start)
            default:
                let end = nameEnd(from: start + 1, allowsPoint: false)
                guard end > start + 1 else { return nil }
                return Match(range: start..<end, function: "ref", key: start + 1..<end)
            }
        }

        private func nameEnd(from start: Int, allowsPoint: Bool) -> Int {
            guard byte(start).isNamePart, !byte(start).isDigit else { return start }
            var end = start
            while byte(end).isNamePart || (allowsPoint && byte(end) == UInt8(ascii: ".")) {
                end += 1
            }
            return end
        }

        private mutating func braced(at start: Int) -> Match? {
            let name = start + 2..<nameEnd(from: start + 2, allowsPoint: true)
            guard !name.isEmpty, hasBrace else { return nil }
            var index = name.upperBound
            if byte(index) == UInt8(ascii: "}") {
                return Match(range: start..<index + 1, function: "ref", key: name)
            }
            if byte(index) == UInt8(ascii: ":") { index += 1 }
            guard byte(index) == UInt8(ascii: "-") else { return nil }
            index += 1
            let other = index
            var containsReference = false
            while index < text.count, text[index] != UInt8(ascii: "}") {
                if text[index] == UInt8(ascii: "$"), text[index - 1] != UInt8(ascii: "\\") {
                    let next = byte(index + 1)
                    containsReference =
                        containsReference || next == UInt8(ascii: "(")
                        || (next.isNamePart && !next.isDigit)
                }
                index += 1
            }
            guard index < text.count else {
                hasBrace = false
                return nil
            }
            guard index > other else { return nil }
            // The other tool replaces the inner reference first, and then sees no braces.
            return Match(
                range: start..<index + 1, function: containsReference ? "concat" : "fallback")
        }

        /// A command up to the parenthesis that closes it, regarding quotes.
        private mutating func command(at start: Int) -> Match? {
            guard closesCommands else { return nil }
            var index = start + 2
            var depth = 1
            var quote: UInt8?
            while index < text.count, depth > 0 {
                let byte = text[index]
                if byte == UInt8(ascii: "\\"), quote != UInt8(ascii: "'") {
                    index += 1
                } else if let open = quote {
                    if byte == open { quote = nil }
                } else if byte.isQuoteByte {
                    quote = byte
                } else if byte == UInt8(ascii: "(") {
                    depth += 1
                } else if byte == UInt8(ascii: ")") {
                    depth -= 1
                }
                index += 1
            }
            guard depth == 0 else {
                closesCommands = false
                return nil
            }
            return Match(range: start..<min(index, text.count), function: "exec")
        }
    }
}
