/// Durations in the form of options: a whole number and `s`, `m`, `h` or `d`.
package enum DurationText {
    /// The longest duration: its milliseconds fit into 64 bits.
    static let maximumSeconds = Int64.max / 1000

    /// Returns the duration of a text, or nil if it is invalid. A number without a unit is invalid.
    package static func duration(_ text: String) -> Duration? {
        let digits = text.utf8.dropLast()
        guard let unit = text.utf8.last, let secondsPerUnit = seconds(of: unit),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(Substring(digits))
        else { return nil }
        let (total, overflow) = number.multipliedReportingOverflow(by: secondsPerUnit)
        guard !overflow, total <= maximumSeconds else { return nil }
        return .seconds(total)
    }

    /// Returns the shortest text for a duration, without fractions of a second.
    package static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        for (unit, size) in [("d", Int64(86400)), ("h", 3600), ("m", 60)] {
            if seconds != 0, seconds % size == 0 { return "\(seconds / size)\(unit)" }
        }
        return "\(seconds)s"
    }

    /// Returns a duration for a sentence, such as "6 min 40 s": its two largest units, rounded up to
    /// seconds.
    package static func words(_ duration: Duration) -> String {
        let (whole, part) = duration.components
        var left = max(whole, 0) + (part > 0 ? 1 : 0)
        var words: [String] = []
        for (unit, size) in [("d", Int64(86400)), ("h", 3600), ("min", 60), ("s", 1)] {
            if left >= size { words.append("\(left / size) \(unit)") }
            left %= size
        }
        return words.isEmpty ? "0 s" : words.prefix(2).joined(separator: " ")
    }

    private static func seconds(of unit: UInt8) -> Int64? {
        switch unit {
        case UInt8(ascii: "s"): 1
        case UInt8(ascii: "m"): 60
        case UInt8(ascii: "h"): 3600
        case UInt8(ascii: "d"): 86400
        default: nil
        }
    }
}
