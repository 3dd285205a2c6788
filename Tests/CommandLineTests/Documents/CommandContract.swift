import Foundation

/// What the contract's tables say of commands: words, options and the names of their values. Parsed
/// loosely: the contract is a text for people, and what is not understood is not asked for.
struct CommandContract {
    /// A command as one cell of a table names it.
    struct Row {
        /// Paths that the words may mean, as `["slot", "add"]`.
        var paths: [[String]] = []
        var options: [Option] = []
    }

    /// An option, with what is written where its value stands.
    struct Option: Hashable {
        var name: String
        /// Nil for a flag.
        var value: String?
    }

    private(set) var rows: [Row] = []
    private(set) var globalOptions: [(option: Option, letter: Character?, variable: String?)] = []

    /// - Parameter groups: First words of commands that have more than one.
    init(_ text: String, groups: Set<String>) {
        for line in text.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = Self.cells(line)
            guard let first = cells.first else { continue }
            var group: String?
            for part in first.components(separatedBy: " · ") {
                let row = Self.row(Self.codeSpans(part).joined(separator: " "), groups, &group)
                if !row.paths.isEmpty { rows.append(row) }
            }
        }
        rows += Self.rotation(in: text, groups)
        globalOptions = Self.globalOptions(in: text)
    }

    /// The cells of a table's line; a bar behind a backslash parts none.
    private static func cells(_ line: Substring) -> [String] {
        line.replacingOccurrences(of: "\\|", with: "\u{1}")
            .split(separator: "|").map {
                $0.replacingOccurrences(of: "\u{1}", with: "|").trimmingCharacters(in: .whitespaces)
            }
    }

    static func codeSpans(_ text: String) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
            .map(\.element)
    }

    /// The commands of section 5 stand in a paragraph.
    private static func rotation(in text: String, _ groups: Set<String>) -> [Row] {
        guard let section = text.components(separatedBy: "## 5. ").dropFirst().first,
            let paragraph = section.components(separatedBy: "\n\n").dropFirst().first
        else { return [] }
        var group: String?
        return codeSpans(paragraph.replacingOccurrences(of: "\n", with: " "))
            .map { row($0, groups, &group) }
    }

    private static func globalOptions(
        in text: String
    ) -> [(option: Option, letter: Character?, variable: String?)] {
        guard let start = text.range(of: "**Global options**"),
            let end = text[start.upperBound...].range(of: "\n\n")
        else { return [] }
        var found: [(option: Option, letter: Character?, variable: String?)] = []
        for span in codeSpans(String(text[start.upperBound..<end.lowerBound])) {
            if span.hasPrefix("ZG_ENV_"), !found.isEmpty {
                let name = String(span.prefix { $0 != "=" })
                if found[found.count - 1].variable == nil { found[found.count - 1].variable = name }
                continue
            }
            let words = span.split(separator: " ").map(String.init)
            guard let word = words.first, word.hasPrefix("--") else { continue }
            let names = word.split(separator: "/")
            let letter = names.count > 1 ? names[1].last : nil
            let option = Option(
                name: String(names[0].dropFirst(2)), value: words.count > 1 ? words[1] : nil)
            if !found.contains(where: { $0.option.name == option.name }) {
                found.append((option, letter, nil))
            }
        }
        return found
    }

    // MARK: One command

    private static func row(
        _ text: String, _ groups: Set<String>, _ group: inout String?
    ) -> Row {
        var row = Row()
        // Brackets say what may be left out, which the description says too.
        let plain = text.filter { !"[]…".contains($0) }
        let words = plain.split(separator: " ").map(String.init)
        let named = words.prefix { word in
            word.allSatisfy { $0.isLowercase || $0 == "-" || $0 == "|" } && !word.hasPrefix("-")
        }
        row.paths = paths(Array(named), groups, &group)
        var place = 0
        while place < words.count {
            defer { place += 1 }
            let word = words[place]
            guard word.hasPrefix("-"), word != "--", word != "-" else { continue }
            for (number, alternative) in word.split(separator: "|").enumerated()
            where alternative.hasPrefix("-") {
                let next = place + 1 < words.count ? words[place + 1] : nil
                let isLast = number == word.split(separator: "|").count - 1
                let value = isLast ? next.flatMap { isValue($0) ? $0 : nil } : nil
                row.options.append(
                    Option(name: String(alternative.drop { $0 == "-" }), value: value))
            }
        }
        return row
    }

    /// Whether a word behind an option is its value: a name in capitals, words to choose from, or an
    /// example of a time.
    private static func isValue(_ word: String) -> Bool {
        guard !word.hasPrefix("-"), !word.hasPrefix("|") else { return false }
        if word.first?.isNumber == true { return true }
        return word.contains("|") || word.allSatisfy { $0.isUppercase || $0 == "," }
    }

    private static func paths(
        _ words: [String], _ groups: Set<String>, _ group: inout String?
    ) -> [[String]] {
        guard let first = words.first else { return [] }
        var choices = words.map { $0.split(separator: "|").map(String.init) }
        if groups.contains(first), choices.count > 1 {
            group = first
            choices = Array(choices.prefix(2))
        } else if let group, choices.count == 1 || groups.contains(first) == false,
            first != group, Self.isBelow(group, first)
        {
            choices = [[group], choices[0]]
        } else {
            choices = [choices[0]]
        }
        return choices.reduce([[]]) { paths, choice in
            paths.flatMap { path in choice.map { path + [$0] } }
        }
    }

    /// `deployment list · show ID` means `deployment show`, and `project list · link` means `link`.
    private static func isBelow(_ group: String, _ word: String) -> Bool {
        group == "deployment" && !["watch", "notify"].contains(word)
    }
}
