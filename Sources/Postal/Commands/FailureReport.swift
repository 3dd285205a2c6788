internal import CommandLineKit
internal import JSON

/// Says on stderr, for the journal, that the store failed: at once, and then once a minute at most.
struct FailureReport {
    private static let pauseMilliseconds: Int64 = 60_000

    private var told = 0
    private var toldAt = Int64.min / 2

    /// - Parameter count: How often the store has failed so far.
    mutating func tell(_ count: Int, now: Int64) {
        guard count > told, now - toldAt >= Self.pauseMilliseconds else { return }
        let messages = OutputStream(descriptor: 2)
        let times = count - told == 1 ? "once" : "\(count - told) times"
        (told, toldAt) = (count, now)
        // Nobody can be told that nobody can be told.
        do throws(OutputError) {
            try messages.write(
                "warning: The store failed \(times). What came meanwhile was not taken (503); "
                    + "see that it has room, and /healthz.\n")
            try messages.flush()
        } catch {
            messages.discard()
        }
    }
}
