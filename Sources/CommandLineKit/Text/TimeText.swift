package import JSON

/// Formatting of times, given in milliseconds since 1970-01-01T00:00:00Z.
package enum TimeText {
    /// Returns a time in UTC, such as `2026-11-21T03:14:00Z` or, with milliseconds,
    /// `2026-11-21T03:14:00.250Z`.
    ///
    /// Years outside 0000 to 9999 get a sign and at least six digits (ISO 8601 expanded).
    package static func utc(_ milliseconds: Int64, withMilliseconds: Bool = false) -> String {
        let (seconds, fraction) = floorDivided(milliseconds, 1000)
        let (days, secondOfDay) = floorDivided(seconds, 86400)
        let (year, month, day) = date(daysSinceEpoch: days)
        // Bytes: long lists show two times per line, and interpolation is slow.
        var text: [UInt8] = []
        text.reserveCapacity(32)
        if (0...9999).contains(year) {
            append(year, 4, to: &text)
        } else {
            text.append(UInt8(ascii: year < 0 ? "-" : "+"))
            append(Int64(clamping: year.magnitude), 6, to: &text)
        }
        append("-", month, to: &text)
        append("-", day, to: &text)
        append("T", secondOfDay / 3600, to: &text)
        append(":", secondOfDay / 60 % 60, to: &text)
        append(":", secondOfDay % 60, to: &text)
        if withMilliseconds {
            text.append(UInt8(ascii: "."))
            append(fraction, 3, to: &text)
        }
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends a separator and a number below 100 with two digits.
    private static func append(_ mark: Unicode.Scalar, _ number: Int64, to text: inout [UInt8]) {
        text.append(UInt8(ascii: mark))
        text.append(UInt8(ascii: "0") + UInt8(number / 10))
        text.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    /// Appends a number with at least `width` digits.
    private static func append(_ number: Int64, _ width: Int, to text: inout [UInt8]) {
        let digits = String(number)
        for _ in digits.utf8.count..<max(width, digits.utf8.count) {
            text.append(UInt8(ascii: "0"))
        }
        text.append(contentsOf: digits.utf8)
    }

    /// Reads a day, `2026-11-21`, which means its beginning in UTC, or a time in UTC,
    /// `2026-11-21T03:14:00Z`; nil for anything else. For years from 1970 to 9999.
    package static func time(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        guard bytes.count == 10 || bytes.count == pattern.count else { return nil }
        var numbers: [Int64] = [0]
        for (byte, expected) in zip(bytes, pattern) {
            guard expected == UInt8(ascii: "0") else {
                guard byte == expected else { return nil }
                numbers.append(0)
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            numbers[numbers.count - 1] =
                numbers[numbers.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        let clock = numbers.count > 3 ? Array(numbers[3..<6]) : [0, 0, 0]
        guard numbers[0] >= 1970, clock[0] < 24, clock[1] < 60, clock[2] < 60 else { return nil }
        // Near the estimate, with months of 28 days and no century without a leap day.
        var day = (numbers[0] - 1970) * 365 + (numbers[0] - 1969) / 4
        day += (numbers[1] - 1) * 28
        let wanted = (year: numbers[0], month: numbers[1], day: numbers[2])
        for candidate in day - 80...day + 80 where date(daysSinceEpoch: candidate) == wanted {
            return (candidate * 86400 + clock[0] * 3600 + clock[1] * 60 + clock[2]) * 1000
        }
        return nil
    }

    /// Returns how long ago a time was: `3 min ago`, `in 3 min` for a future time, and `just now` for
    /// less than ten seconds either way. Rounded down.
    package static func age(of time: Int64, at now: Int64) -> String {
        let (difference, overflow) = now.subtractingReportingOverflow(time)
        guard !overflow else { return time < now ? "long ago" : "in the far future" }
        let seconds = difference.magnitude / 1000
        if seconds < 10 { return "just now" }
        let span = span(seconds)
        return difference < 0 ? "in \(span)" : "\(span) ago"
    }

    /// Returns a time span in its largest unit, rounded down.
    private static func span(_ seconds: UInt64) -> String {
        let days = seconds / 86400
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<86400: "\(seconds / 3600) h"
        case ..<(86400 * 60): days == 1 ? "1 day" : "\(days) days"
        case ..<(86400 * 730): "\(days / 30) months"
        default: "\(days / 365) years"
        }
    }

    /// Returns the date in the proleptic Gregorian calendar.
    ///
    /// Counts in eras of 400 years that start on March 1, so that the leap day is the last day of a
    /// year.
    private static func date(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let daysPerEra: Int64 = 146_097
        // From 0000-03-01 to 1970-01-01.
        let (era, dayOfEra) = floorDivided(daysSinceEpoch + 719_468, daysPerEra)
        let leapDays = dayOfEra / 1460 - dayOfEra / 36524 + dayOfEra / (daysPerEra - 1)
        let yearOfEra = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivided(_ value: Int64, _ by: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: by)
        return remainder < 0 ? (quotient - 1, remainder + by) : (quotient, remainder)
    }
}

extension JSONValue {
    /// Returns a time in UTC as a string, or null for nil.
    package static func time(orNull milliseconds: Int64?) -> JSONValue {
        milliseconds.map { .string(TimeText.utc($0)) } ?? .null
    }
}
