import Foundation
import TestSupport

/// The commands in a message.
struct ModelAdvice {
    /// Their words after `zg-env`, in the order of the message.
    let commands: [[String]]

    /// Options that take a value.
    private static let withArgument: Set<String> = [
        "-p", "--project", "-t", "--target", "-b", "--branch", "--type", "--version", "--team",
        "--account",
    ]

    /// Parses a command's output.
    ///
    /// - Parameter keys: The keys that `KEY` stands for.
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

    /// The words up to the rest of the sentence.
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
