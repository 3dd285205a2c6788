import Foundation

/// What a terminal shows at the end, and whether it is what a page says.
enum ShownText {
    /// The lines that stay: what a carriage return or an erasing sequence takes back is gone, and so
    /// are colours.
    static func lines(_ bytes: some Sequence<UInt8>) -> [String] {
        let text = String(decoding: Array(bytes), as: UTF8.self)
        var lines: [String] = []
        var line: [Character] = []
        var column = 0
        var scalars = text.makeIterator()
        while let character = scalars.next() {
            switch character {
            case "\r\n", "\n":
                lines.append(String(line))
                (line, column) = ([], 0)
            case "\r": column = 0
            case "\u{1B}":
                // A control sequence, `ESC [ … letter`, or one of two characters.
                guard scalars.next() == "[" else { continue }
                var parameters = ""
                while let next = scalars.next() {
                    if next.isLetter {
                        if next == "K" {
                            line = parameters == "2" ? [] : Array(line.prefix(column))
                        }
                        break
                    }
                    parameters.append(next)
                }
            default:
                if column < line.count { line[column] = character } else { line.append(character) }
                column += 1
            }
        }
        if !line.isEmpty { lines.append(String(line)) }
        return lines.map { line in
            var line = line
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// The first line of a page that is not shown; nil where all are, and nothing else is.
    static func difference(_ expected: [String], _ shown: [String]) -> String? {
        // A prompt for something secret is taken back once that was typed.
        let expected = trimmed(expected.filter { !DocumentScript.isHiddenPrompt($0) }).map(lasting)
        let shown = trimmed(shown).map(lasting)
        // The longest front of the page that some front of what is shown agrees with.
        var reached = Set([0])
        for (offset, pattern) in expected.enumerated() {
            var next: Set<Int> = []
            for position in reached {
                if pattern == "…" {
                    next.formUnion(position...shown.count)
                } else if position < shown.count, matches(shown[position], pattern) {
                    next.insert(position + 1)
                }
            }
            if next.isEmpty {
                let position = reached.min() ?? 0
                let other = position < shown.count ? shown[position] : "(nothing more)"
                return "line \(offset + 1) of the page's text, “\(pattern)”, is “\(other)”"
            }
            reached = next
        }
        guard !reached.contains(shown.count) else { return nil }
        return "the page ends, and there is more: “\(shown[reached.max() ?? 0])”"
    }

    /// A line without what a slow machine changes: how long ago something was, and with it the width of its
    /// column.
    private static func lasting(_ line: String) -> String {
        let blanks = line.prefix { $0 == " " }
        let words = line.replacing(/just now|[0-9]+ [a-z]+ ago/, with: "just now")
            .split(separator: " ")
        return blanks + words.joined(separator: " ")
    }

    private static func trimmed(_ lines: [String]) -> [String] {
        var lines = lines[...]
        while lines.first?.isEmpty == true { lines.removeFirst() }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return Array(lines)
    }

    /// Whether a line is as the pattern says, where `…` is any text.
    static func matches(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else {
            return line == pattern
        }
        guard line.hasPrefix(first) else { return false }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last) && rest.count >= last.count
    }
}
