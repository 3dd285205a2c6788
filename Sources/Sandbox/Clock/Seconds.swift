/// Spans of time as they are written in faults and arguments.
package enum Seconds {
    /// A number of seconds from 0 to a day, fractions allowed, or one of milliseconds with `ms`
    /// behind it; `nil` for anything else.
    package static func value(of text: some StringProtocol) -> Double? {
        let isShort = text.hasSuffix("ms")
        guard let number = Double(String(text.dropLast(isShort ? 2 : 0))), number.isFinite else {
            return nil
        }
        let seconds = isShort ? number / 1000 : number
        return (0...86400).contains(seconds) ? seconds : nil
    }

    /// The shortest form: `5`, `0.2`.
    static func text(_ seconds: Double) -> String {
        Int64(exactly: seconds).map { String($0) } ?? String(seconds)
    }
}
