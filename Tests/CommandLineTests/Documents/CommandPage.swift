import Foundation

/// The code of a Markdown page, and the `zg-env` command lines in it.
struct CommandPage {
    let name: String
    /// Inline code spans and lines of code blocks, with their line numbers from 1.
    private(set) var code: [(number: Int, text: String)] = []
    /// A `zg-env` command.
    struct CommandLine {
        let number: Int
        /// The words after `zg-env`, up to the end of the command.
        let words: [String]

        /// Whether it is a synopsis with optional parts in brackets, ends in a command
        /// substitution, or is output, and so cannot be typed as it is.
        var isForm: Bool {
            words.contains { $0.hasPrefix("[") || $0.contains("…") }
                || words.last == "$" || words[0].hasSuffix(":")
                || ["help", "completion"].contains(words[0])
                || words.starts(with: ["slot", "add", "KIND"])
        }
    }

    /// The `zg-env` commands in the code.
    private(set) var commandLines: [CommandLine] = []
    /// Long options anywhere in the code.
    private(set) var options: [(number: Int, option: String)] = []

    init(name: String, text: String) {
        self.name = name
        findCode(text)
        for part in code {
            commandLines += Self.commandLines(part.text).map {
                CommandLine(number: part.number, words: $0)
            }
            options += Self.options(part.text).map { (part.number, $0) }
        }
    }

    private mutating func findCode(_ text: String) {
        var isFenced = false
        var continued: (number: Int, text: String)?
        var isBehindBlank = true
        var isIndented = false
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") {
                isFenced.toggle()
                continue
            }
            isIndented = line.hasPrefix("    ") && (isBehindBlank || isIndented)
            isBehindBlank = line.isEmpty || (isBehindBlank && line.hasPrefix(" "))
            guard isFenced || isIndented else {
                for span in CommandContract.codeSpans(line) { code.append((index + 1, span)) }
                continue
            }
            var whole = (continued?.text ?? "") + line.trimmingCharacters(in: .whitespaces)
            let number = continued?.number ?? index + 1
            continued = nil
            if whole.hasSuffix("\\") {
                whole.removeLast()
                continued = (number, whole)
            } else {
                code.append((number, whole))
            }
        }
    }

    /// Splits a shell line into commands, with as much shell syntax as the pages use: quotes,
    /// comments, pipes.
    static func commandLines(_ line: String) -> [[String]] {
        var commands: [[String]] = [[]]
        var word: String?
        var quote: Character?
        func end() {
            if let word { commands[commands.count - 1].append(word) }
            word = nil
        }
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + [character] }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " {
                end()
            } else if character == "#" && word == nil {
                break
            } else if "|;&<>()".contains(character) {
                end()
                commands.append([])
            } else {
                word = (word ?? "") + [character]
            }
        }
        end()
        return commands.compactMap { words in
            guard let start = words.firstIndex(of: "zg-env"), start + 1 < words.count else {
                return nil
            }
            return Array(words[(start + 1)...])
        }
    }

    private static func options(_ text: String) -> [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init).filter {
            $0.hasPrefix("--") && $0.count > 2 && $0.dropFirst(2).first?.isLowercase == true
        }
    }
}
