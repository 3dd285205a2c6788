import Glibc

extension TerminalDevice {
    /// The maximum length of an answer in bytes, blanks included; a longer one declines.
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
        try write("\(DisplayText.safe(sentence: question)) \(agrees ? "[Y/n]" : "[y/N]") ")
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
                return false
            }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
            // One extra byte, so that a too long answer is recognized.
            if answer.count <= Self.longestAnswer { answer.append(byte) }
        }
        guard answer.count <= Self.longestAnswer else { return false }
        let word = String(decoding: answer, as: UTF8.self).lowercased()
            .filter { $0 != " " && $0 != "\t" }
        return ["y", "yes"].contains(word) || agrees && word.isEmpty
    }
}
