import Foundation
import PostalProtocol
import TestSupport

/// A device that streams from any of several relays, and switches to another when the stream ends.
final class ClusterReader {
    let device: TestDevice
    private(set) var cursor: Int64
    /// The numbers of each received event.
    private(set) var had: [String: Set<Int64>] = [:]
    private var stream: EventReader?
    private var taken = 0

    init(_ device: TestDevice) {
        self.device = device
        cursor = device.start
    }

    /// Reads received events, and connects if there is no stream.
    func poll(_ relays: [RelayProcess]) throws {
        if let stream {
            let hasEnded = stream.hasEnded(within: 0)
            let lines = stream.all
            for line in lines[taken...] {
                guard line.event == "sealed", let id = line.id else {
                    throw CheckFailure("a device got \(line.event) \(line.data)")
                }
                guard id > cursor else { throw CheckFailure("\(id) came behind \(cursor)") }
                cursor = id
                had[try device.opened(line.data).id, default: []].insert(id)
            }
            taken = lines.count
            guard hasEnded else { return }
        }
        (stream, taken) = (nil, 0)
        for relay in relays.shuffled() {
            guard let next = try? EventReader(relay, device, after: cursor), next.status == 200
            else { continue }
            stream = next
            return
        }
    }

    /// Continues until every event of a set was received exactly once.
    static func wait(
        _ readers: [ClusterReader], for ids: Set<String>, _ relays: [RelayProcess], _ what: String,
        seconds: Int = 40, report: ClusterReport? = nil
    ) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            var missing: Set<String> = []
            for reader in readers {
                try reader.poll(relays)
                missing.formUnion(ids.subtracting(reader.had.keys))
                if let twice = reader.had.first(where: { $0.value.count > 1 }) {
                    throw CheckFailure(
                        "\(what): \(twice.key) has the numbers \(twice.value)\n"
                            + (report?.text(of: [twice.key]) ?? ""))
                }
            }
            if missing.isEmpty { return }
            guard ContinuousClock.now < end else {
                let ids = missing.sorted()
                throw CheckFailure(
                    "\(what): \(ids) did not reach every device\n"
                        + (report?.text(of: ids) ?? ""))
            }
            usleep(5_000)
        }
    }
}
