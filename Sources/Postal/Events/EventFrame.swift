internal import Sealing

/// The text of server-sent events.
enum EventFrame {
    static let greeting = Array(": connected\n\n".utf8)
    static let keepAlive = Array(": keep-alive\n\n".utf8)
    static let removed = Array("event: removed\ndata: {}\n\n".utf8)

    /// Returns the lines of a part of a device's events; empty if there are none.
    static func lines(of events: DeviceEvents) -> [UInt8] {
        var lines: [UInt8] = []
        let sealedCount = events.copies.reduce(0) { $0 + $1.sealed.count }
        lines.reserveCapacity(events.copies.count * 48 + sealedCount * 4 / 3 + 96)
        if let missed = events.missed {
            lines += Array(
                "event: missed\nid: \(missed.through)\ndata: {\"count\":\(missed.count)}\n\n".utf8)
        }
        for copy in events.copies {
            lines += Array("id: \(copy.number)\nevent: sealed\ndata: ".utf8)
            lines += TableBase64.encoded(copy.sealed)
            lines += [UInt8](repeating: UInt8(ascii: "="), count: (3 - copy.sealed.count % 3) % 3)
            lines += [0x0A, 0x0A]
        }
        return lines
    }
}
