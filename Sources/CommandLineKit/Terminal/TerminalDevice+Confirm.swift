import CLinux
import Glibc

extension TerminalDevice {
    /// The maximum length of an answer in bytes, blanks included; a longer one counts as none.
    private static let longestAnswer = 16

    /// Asks a yes/no question. `y` and `yes` agree; any other answer declines.
    ///
    /// - Parameters:
    ///   - question: Shown on one line, sanitized.
    ///   - agrees: Whether Enter alone agrees. Then keys typed before the question are dropped.
    package func confirm(
        _ question: String, byDefault agrees: Bool = false
    ) throws(TerminalError) -> Bool {
        if agrees { tcflush(descriptor, TCIFLUSH) }
        return try answer(question, byDefault: agrees) ?? false
    }

    /// Asks as ``confirm(_:byDefault:)`` does.
    ///
    /// - Returns: nil at the end of input, for a question that is asked again after a no.
    package func answer(
        _ question: String, byDefault agrees: Bool = false
    ) throws(TerminalError) -> Bool? {
        try write("\(DisplayText.safe(sentence: question)) \(agrees ? "[Y/n]" : "[y/N]") ")
        guard let word = try readAnswer() else { return nil }
        return ["y", "yes"].contains(word) || agrees && word.isEmpty
    }

    /// Asks for one of several words, repeating the question after any other answer. Keys typed
    /// before the question are dropped.
    ///
    /// - Parameters:
    ///   - question: Shown on one line, sanitized.
    ///   - words: In lower case, with different first letters, which also answer. Enter alone
    ///     answers the first.
    /// - Returns: The first word at the end of input.
    package func choose(
        _ question: String, from words: [String]
    ) throws(TerminalError) -> String {
        let letters = words.enumerated().map { place, word in
            let letter = String(word.prefix(1))
            return place == 0 ? letter.uppercased() : letter
        }
        while true {
            tcflush(descriptor, TCIFLUSH)
            try write(
                "\(DisplayText.safe(sentence: question)) [\(letters.joined(separator: "/"))] ")
            guard let answer = try readAnswer(), !answer.isEmpty else { return words[0] }
            if let word = words.first(where: { $0 == answer || $0.prefix(1) == answer }) {
                return word
            }
        }
    }

    /// Reads a line. A signal ends the line of the question, as an answer would.
    ///
    /// - Returns: The line in lower case without blanks, `?` if it is too long, or nil at the end
    ///   of input.
    private func readAnswer() throws(TerminalError) -> String? {
        var modes = termios()
        guard unsafe tcgetattr(descriptor, &modes) == 0 else { throw .system(errno: errno) }
        try Self.guardTerminal(descriptor, modes, modes, prompt: "")
        defer { zg_terminal_guard_clear() }
        do throws(TerminalError) {
            return try readLine()
        } catch {
            if case .interrupted = error { try? write("\n") }
            throw error
        }
    }

    private func readLine() throws(TerminalError) -> String? {
        var answer: [UInt8] = []
        while true {
            _ = try waitForInput()
            var byte: UInt8 = 0
            let count = unsafe read(descriptor, &byte, 1)
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(errno: errno)
            }
            if count == 0 {
                try write("\n")
                return nil
            }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
            // One extra byte, so that a too long answer is recognized.
            if answer.count <= Self.longestAnswer { answer.append(byte) }
        }
        guard answer.count <= Self.longestAnswer else { return "?" }
        return String(decoding: answer, as: UTF8.self).lowercased()
            .filter { $0 != " " && $0 != "\t" }
    }
}
