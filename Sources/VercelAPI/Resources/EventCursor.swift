/// How far a log has been read: from where to ask again after a broken connection, and which events
/// were told already.
///
/// Remembers the events of the last two seconds before the newest one, since the platform answers
/// from a moment on and many events share one. Needs some six megabytes at most.
package final class EventCursor {
    /// How far back a new connection asks, in milliseconds: events may come somewhat out of order.
    static let overlapMilliseconds: Int64 = 2_000
    /// The most events that are remembered. Beyond, a broken connection may repeat lines; it never
    /// loses one.
    static let capacity = 1 << 17

    private struct Remembered {
        let date: Int64
        let fingerprint: UInt64
    }

    /// The moment of the newest event.
    package private(set) var latest: APITime?
    /// In the order of their coming; those before `first` are forgotten.
    private var window: [Remembered] = []
    private var first = 0
    /// How often each was told.
    private var told: [UInt64: UInt32] = [:]
    /// How often each without an id came on this connection.
    private var came: [UInt64: UInt32] = [:]

    /// Makes a cursor before the first event, or one that asks from a moment on.
    package init(since: APITime? = nil) {
        latest = since
    }

    /// How many events are remembered.
    var rememberedCount: Int { window.count - first }

    /// From when on to ask; nil for the beginning.
    var since: APITime? {
        guard let latest else { return nil }
        if window.isEmpty { return latest }
        return APITime(
            milliseconds: max(
                latest.milliseconds.subtractingReportingOverflow(Self.overlapMilliseconds)
                    .partialValue, 0))
    }

    /// A connection begins: what has no id may come once more.
    func beginConnection() {
        came.removeAll(keepingCapacity: true)
    }

    /// Notes an event.
    ///
    /// - Returns: False if it was told already. Two events without an id that are alike are two
    ///   events, unless they come from different connections.
    func isNew(_ event: DeploymentEvent) -> Bool {
        let fingerprint = Self.fingerprint(of: event)
        if event.id != nil {
            if told[fingerprint] != nil { return false }
        } else {
            came[fingerprint, default: 0] += 1
            if came[fingerprint, default: 0] <= told[fingerprint, default: 0] { return false }
        }
        told[fingerprint, default: 0] += 1
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
            guard let count = told[fingerprint], count > 1 else {
                told[fingerprint] = nil
                came[fingerprint] = nil
                continue
            }
            told[fingerprint] = count - 1
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
