import Foundation
import TestSupport

/// The commands that a message tells people to type.
struct ModelAdvice {
    /// Their words behind `zg-env`, in the order in which they are printed.
    let commands: [[String]]

    /// Options that a word follows.
    private static let withArgument: Set<String> = [
        "-p", "--project", "-t", "--target", "-b", "--branch", "--type", "--version", "--team",
        "--account",
    ]

    /// Reads what a command has printed.
    ///
    /// - Parameter keys: What `KEY` stands for.
    init(in text: String, keys: [String]) {
        var commands: [[String]] = []
        for part in text.components(separatedBy: "zg-env ").dropFirst() {
            let words = Self.words(of: part)
            guard let name = words.first, !name.isEmpty else { continue }
            let found =
                words.contains("KEY")
                ? keys.map { key in words.map { $0 == "KEY" ? key : $0 } } : [words]
            for command in found where !commands.contains(command) { commands.append(command) }
        }
        self.commands = commands
    }

    /// The words up to where the sentence goes on.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var wantsArgument = false
        for piece in text.split(whereSeparator: \.isWhitespace) {
            let word = piece.trimmingCharacters(in: CharacterSet(charactersIn: ".,;:()'\"`"))
            let isFirst = words.isEmpty
            let isPart =
                isFirst || wantsArgument || word.hasPrefix("-")
                || word.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "_" }
                || words.count == 1 && ["rotate", "project", "account"].contains(words[0])
            guard isPart, !word.isEmpty else { break }
            words.append(word)
            wantsArgument = withArgument.contains(word)
            if let last = piece.last, ".,;:)".contains(last) { break }
        }
        return words
    }
}
