internal import CommandLineKit
internal import Glibc

/// Times as people read and write them.
enum LocalTime {
    /// Returns a time of this machine's time zone, such as `2026-11-21 03:14:00`; a year that it
    /// cannot show in UTC.
    ///
    /// - Parameter milliseconds: Since 1970.
    static func text(_ milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1_000)
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else {
            return TimeText.utc(milliseconds)
        }
        let fields = unsafe [
            parts.tm_year + 1_900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
            parts.tm_sec,
        ].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return fields[..<3].joined(separator: "-") + " " + fields[3...].joined(separator: ":")
    }

    /// Returns a time in the past that an option gives, in milliseconds since 1970.
    ///
    /// - Parameter text: A span back from `now`, a day or a time in UTC.
    static func past(_ text: String, from now: UInt64) throws -> UInt64 {
        if let span = DurationText.duration(text) {
            return now - min(now, UInt64(clamping: span.components.seconds) * 1_000)
        }
        guard let found = TimeText.time(text), found >= 0 else {
            throw CommandError(
                .usage, "\(text) is not a time.",
                hint: "Write it as 2026-11-20, 2026-11-20T18:00:00Z, or 3d.")
        }
        return UInt64(found)
    }
}
