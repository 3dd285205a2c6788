/// Durations in faults and arguments.
package enum Seconds {
    /// Parses seconds from 0 to a day, with fractions, or milliseconds with the suffix `ms`.
    package static func value(of text: some StringProtocol) -> Double? {
        let isShort = text.hasSuffix("ms")
        guard let number = Double(String(text.dropLast(isShort ? 2 : 0))), number.isFinite else {
            return nil
        }
        let seconds = isShort ? number / 1000 : number
        return (0...86400).contains(seconds) ? seconds : nil
    }

    /// Returns the shortest form: `5`, `0.2`.
    static func text(_ seconds: Double) -> String {
        Int64(exactly: seconds).map { String($0) } ?? String(seconds)
    }
}
