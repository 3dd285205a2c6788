internal import Synchronization
internal import Threads

/// What the relay counts. Nothing here tells one device, account or event from another.
final class Metrics: Sendable {
    /// A number that grows.
    final class Counter: Sendable {
        private let number = Atomic<Int>(0)

        func add(_ count: Int = 1) { number.wrappingAdd(count, ordering: .relaxed) }

        var value: Int { number.load(ordering: .relaxed) }
    }

    /// How often something took how long.
    final class Histogram: Sendable {
        /// Upper bounds in milliseconds.
        static let bounds: [Int64] = [
            1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000,
        ]

        private struct Values {
            var counts = [Int](repeating: 0, count: Histogram.bounds.count + 1)
            var sum: Int64 = 0
        }

        private let values = Monitor(Values())

        func add(milliseconds: Int64) {
            let place = Self.bounds.firstIndex { milliseconds <= $0 } ?? Self.bounds.count
            values.look { values in
                values.counts[place] += 1
                values.sum += max(milliseconds, 0)
            }
        }

        /// The lines of Prometheus' text form, in seconds.
        func lines(_ name: String, _ help: String) -> String {
            let (counts, sum) = values.look { ($0.counts, $0.sum) }
            var text = "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
            var total = 0
            for (place, bound) in Self.bounds.enumerated() {
                total += counts[place]
                text += "\(name)_bucket{le=\"\(Double(bound) / 1_000)\"} \(total)\n"
            }
            total += counts[Self.bounds.count]
            text += "\(name)_bucket{le=\"+Inf\"} \(total)\n"
            return text + "\(name)_sum \(Double(sum) / 1_000)\n\(name)_count \(total)\n"
        }
    }

    let accepted = Counter()
    let duplicates = Counter()
    let unknownTypes = Counter()
    let delivered = Counter()
    let missed = Counter()
    let joined = Counter()
    let storeFailures = Counter()
    let closedForLimits = Counter()
    let accepting = Histogram()
    let delivering = Histogram()
    private let refused = Dictionary(
        uniqueKeysWithValues: Refusal.allCases.map { ($0, Counter()) })

    func refuse(_ reason: Refusal) { refused[reason]?.add() }

    /// The whole page.
    func text(streams: Int, connections: Int, waiting: Int, store: StoreStatus?) -> String {
        var text = ""
        func counter(_ name: String, _ help: String, _ value: Int) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) counter\n\(name) \(value)\n"
        }
        func gauge(_ name: String, _ help: String, _ value: Int) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(value)\n"
        }
        counter("zg_postal_events_accepted_total", "Events that were kept", accepted.value)
        counter(
            "zg_postal_events_duplicate_total", "Events that were kept before", duplicates.value)
        counter(
            "zg_postal_events_unknown_total", "Events of types nobody is told of",
            unknownTypes.value)
        text += "# HELP zg_postal_refused_total Requests that were refused, by reason\n"
        text += "# TYPE zg_postal_refused_total counter\n"
        for reason in Refusal.allCases {
            text += "zg_postal_refused_total{reason=\"\(reason.rawValue)\"} "
            text += "\(refused[reason]?.value ?? 0)\n"
        }
        counter("zg_postal_delivered_total", "Copies handed to streams", delivered.value)
        counter("zg_postal_missed_total", "Copies that were gone before", missed.value)
        counter("zg_postal_joined_total", "Devices that joined", joined.value)
        counter("zg_postal_store_failures_total", "Failed calls of the store", storeFailures.value)
        counter(
            "zg_postal_closed_total", "Connections closed for taking too long or too many",
            closedForLimits.value)
        gauge("zg_postal_streams", "Open streams", streams)
        gauge("zg_postal_connections", "Open connections", connections)
        gauge("zg_postal_waiting_streams", "Streams that wait for the log", waiting)
        if let store {
            gauge("zg_postal_devices", "Registered devices", store.devices)
            gauge("zg_postal_invites", "Open invites", store.invites)
            gauge("zg_postal_kept_events", "Kept events", store.events)
        }
        text += accepting.lines(
            "zg_postal_accept_seconds", "From a webhook's end to its answer")
        text += delivering.lines(
            "zg_postal_deliver_seconds", "From an event's end to its last byte to a stream")
        return text
    }
}
