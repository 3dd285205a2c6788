internal import Glibc

/// The source of the sandbox's time; the stepped offset is added to it.
package enum SandboxClock: Sendable {
    case real
    /// A clock that stays at this time, in milliseconds since 1970, until it is stepped.
    case manual(startMilliseconds: Int64)

    /// Milliseconds since 1970.
    var milliseconds: Int64 {
        switch self {
        case .manual(let start): return start
        case .real:
            var time = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        }
    }
}

enum Timestamp {
    /// Returns ISO 8601 in UTC with milliseconds, as `2021-02-10T13:11:49.180Z`.
    static func text(_ milliseconds: Int64) -> String {
        let (year, month, day) = civilDate(milliseconds)
        let time = clock(milliseconds).map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(time).\(padded(max(0, milliseconds) % 1000, 3))Z"
    }

    /// Returns the HTTP form, as `Wed, 10 Feb 2021 13:11:49 GMT`.
    static func http(_ milliseconds: Int64) -> String {
        let (year, month, day) = civilDate(milliseconds)
        // 1 January 1970 was a Thursday.
        let weekday = (max(0, milliseconds) / 86_400_000 + 4) % 7
        let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let time = clock(milliseconds).map { padded($0, 2) }.joined(separator: ":")
        return "\(weekdays[Int(weekday)]), \(padded(day, 2)) \(months[Int(month - 1)]) "
            + "\(padded(year, 4)) \(time) GMT"
    }

    /// Returns hour, minute and second.
    private static func clock(_ milliseconds: Int64) -> [Int64] {
        let seconds = max(0, milliseconds) / 1000
        return [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60]
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func civilDate(_ milliseconds: Int64) -> (Int64, Int64, Int64) {
        let days = max(0, milliseconds) / 86_400_000
        // Civil date from days since 1970, in eras of 400 years that begin in March.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day)
    }
}
