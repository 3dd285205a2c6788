import Glibc

extension TerminalDevice {
    /// Bytes of an answer, blanks included, beyond which it declines.
    private static let longestAnswer = 16

    /// Asks a question that `y` or `yes` agrees to. Any other answer, and none, declines.
    ///
    /// - Parameter question: Shown in one line, made safe first.
    package func confirm(_ question: String) throws(TerminalError) -> Bool {
        try write("\(DisplayText.safe(sentence: question)) [y/N] ")
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
            // One byte more than is looked at tells a longer answer from a short one.
            if answer.count <= Self.longestAnswer { answer.append(byte) }
        }
        guard answer.count <= Self.longestAnswer else { return false }
        let word = String(decoding: answer, as: UTF8.self).lowercased()
        return ["y", "yes"].contains(word.filter { $0 != " " && $0 != "\t" })
    }
}
