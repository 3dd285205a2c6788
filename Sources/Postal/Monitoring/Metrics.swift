internal import Synchronization
internal import Threads

/// The relay's counters. They do not distinguish devices, accounts or events.
final class Metrics: Sendable {
    final class Counter: Sendable {
        private let number = Atomic<Int>(0)

        func add(_ count: Int = 1) { number.wrappingAdd(count, ordering: .relaxed) }

        var value: Int { number.load(ordering: .relaxed) }
    }

    /// A histogram of durations.
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

        /// Returns the lines in Prometheus text format, in seconds.
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

    func text(streams: Int, connections: Int, waiting: Int, store: StoreStatus?) -> String {
        var text = ""
        func counter(_ name: String, _ help: String, _ value: Int) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) counter\n\(name) \(value)\n"
        }
        func gauge(_ name: String, _ help: String, _ value: Int) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(value)\n"
        }
        counter("zg_postal_events_accepted_total", "Events that were stored", accepted.value)
        counter(
            "zg_postal_events_duplicate_total", "Duplicate events", duplicates.value)
        counter(
            "zg_postal_events_unknown_total", "Events of types that devices do not receive",
            unknownTypes.value)
        text += "# HELP zg_postal_refused_total Rejected requests by reason\n"
        text += "# TYPE zg_postal_refused_total counter\n"
        for reason in Refusal.allCases {
            text += "zg_postal_refused_total{reason=\"\(reason.rawValue)\"} "
            text += "\(refused[reason]?.value ?? 0)\n"
        }
        counter("zg_postal_delivered_total", "Event copies sent to device streams", delivered.value)
        counter("zg_postal_missed_total", "Event copies dropped before delivery", missed.value)
        counter("zg_postal_joined_total", "Devices that joined", joined.value)
        counter("zg_postal_store_failures_total", "Failed calls to the store", storeFailures.value)
        counter(
            "zg_postal_closed_total",
            "Connections closed because they were too slow or there were too many",
            closedForLimits.value)
        gauge("zg_postal_streams", "Open streams", streams)
        gauge("zg_postal_connections", "Open connections", connections)
        gauge("zg_postal_waiting_streams", "Streams waiting for the event log", waiting)
        if let store {
            gauge("zg_postal_devices", "Registered devices", store.devices)
            gauge("zg_postal_invites", "Open invites", store.invites)
            gauge("zg_postal_kept_events", "Stored events", store.events)
        }
        text += accepting.lines(
            "zg_postal_accept_seconds", "Time from the end of a webhook request to its response")
        text += delivering.lines(
            "zg_postal_deliver_seconds",
            "Time from the end of a webhook request to the last byte of the event on a stream")
        return text
    }
}
