/// The reading position in a log: where to resume after a broken connection, and which events were
/// already reported.
///
/// Remembers the events of the two seconds before the newest one, because Vercel resumes from a
/// time and many events share one. Needs at most about six megabytes.
package final class EventCursor {
    /// How far a new connection goes back, in milliseconds, because events may be out of order.
    static let overlapMilliseconds: Int64 = 2_000
    /// The most events that are remembered. Beyond that, a broken connection may repeat lines but
    /// never loses one.
    static let capacity = 1 << 17

    private struct Remembered {
        let date: Int64
        let fingerprint: UInt64
    }

    /// The time of the newest event.
    package private(set) var latest: APITime?
    /// In order of arrival; those before `first` are forgotten.
    private var window: [Remembered] = []
    private var first = 0
    /// How often each event was reported.
    private var seen: [UInt64: UInt32] = [:]
    /// How often each event without an id arrived on this connection.
    private var arrived: [UInt64: UInt32] = [:]

    /// Creates a cursor at the beginning of the log, or at a time.
    package init(since: APITime? = nil) {
        latest = since
    }

    var rememberedCount: Int { window.count - first }

    /// The time to resume from; nil for the beginning.
    var since: APITime? {
        guard let latest else { return nil }
        if window.isEmpty { return latest }
        return APITime(
            milliseconds: max(
                latest.milliseconds.subtractingReportingOverflow(Self.overlapMilliseconds)
                    .partialValue, 0))
    }

    /// Starts a connection, on which events without an id may repeat.
    func beginConnection() {
        arrived.removeAll(keepingCapacity: true)
    }

    /// Records an event.
    ///
    /// - Returns: False if it was already reported. Two equal events without an id are two events,
    ///   unless they come from different connections.
    func isNew(_ event: DeploymentEvent) -> Bool {
        let fingerprint = Self.fingerprint(of: event)
        if event.id != nil {
            if seen[fingerprint] != nil { return false }
        } else {
            arrived[fingerprint, default: 0] += 1
            if arrived[fingerprint, default: 0] <= seen[fingerprint, default: 0] { return false }
        }
        seen[fingerprint, default: 0] += 1
        let date = event.date ?? latest
        window.append(.init(date: date?.milliseconds ?? 0, fingerprint: fingerprint))
        if let date { latest = max(latest ?? date, date) }
        forget()
        return true
    }

    private func forget() {
        guard let latest else { return }
        let (oldest, overflow) = latest.milliseconds.subtractingReportingOverflow(
            Self.overlapMilliseconds)
        while first < window.count,
            window.count - first > Self.capacity || (!overflow && window[first].date < oldest)
        {
            let fingerprint = window[first].fingerprint
            first += 1
            guard let count = seen[fingerprint], count > 1 else {
                seen[fingerprint] = nil
                arrived[fingerprint] = nil
                continue
            }
            seen[fingerprint] = count - 1
        }
        if first > 4096, first > window.count / 2 {
            window.removeFirst(first)
            first = 0
        }
    }

    private static func fingerprint(of event: DeploymentEvent) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(event.type)
        if let id = event.id {
            hasher.combine(id)
        } else {
            hasher.combine(event.date)
            hasher.combine(event.text)
            hasher.combine(event.state?.rawValue)
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
