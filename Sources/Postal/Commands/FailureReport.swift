internal import CommandLineKit

/// Reports on stderr that the store failed: at once, then at most once a minute.
struct FailureReport {
    private static let pauseMilliseconds: Int64 = 60_000

    private var told = 0
    private var toldAt = Int64.min / 2

    /// - Parameter count: Failures of the store so far.
    mutating func tell(_ count: Int, now: Int64) {
        guard count > told, now - toldAt >= Self.pauseMilliseconds else { return }
        let times = count - told == 1 ? "once" : "\(count - told) times"
        (told, toldAt) = (count, now)
        // Without stderr there is nobody left to warn.
        try? OutputStream.write(
            "warning: The store failed \(times). Webhooks were rejected (503) while the store was unavailable; check its free space and /healthz.\n",
            to: 2)
    }
}
