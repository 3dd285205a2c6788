internal import JSON
internal import Sealing

/// A message of a relay to a device, one event of its stream; `docs/postal-protocol.md` describes
/// them.
package enum RelayMessage: Equatable, Sendable {
    /// An event's number, and the sealed box that contains it.
    case sealed(number: Int64, box: [UInt8])
    /// `count` events up to a number are no longer kept; 0 if unknown how many.
    case missed(number: Int64, count: Int)
    /// The device was removed.
    case removed
    /// A malformed message; it is skipped with its number.
    case unreadable(number: Int64?)

    /// Lengths of a sealed ``PostalEvent/sealedText``.
    private static let boxByteCounts = 49...(PostalEvent.byteLimit + 48)

    /// Parses an event of the stream; nil for an unknown kind.
    package init?(_ event: EventStreamParser.Event) {
        let number = event.id.flatMap { Self.number($0) }
        switch event.name {
        case "sealed":
            guard let number, let box = Base64.decoded(event.data[...], .padded),
                Self.boxByteCounts.contains(box.count)
            else {
                self = .unreadable(number: number)
                return
            }
            self = .sealed(number: number, box: box)
        case "missed":
            struct Missed: Decodable { let count: Int }
            guard let number else {
                self = .unreadable(number: nil)
                return
            }
            // A wrong count must not hide that events are missing.
            let missed = try? JSONDecoder().decode(Missed.self, from: event.data)
            self = .missed(number: number, count: min(max(missed?.count ?? 0, 0), 1_000_000))
        case "removed": self = .removed
        default: return nil
        }
    }

    /// Parses the number of an event: digits only, above 0.
    package static func number(_ text: String) -> Int64? {
        guard (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
            number > 0
        else { return nil }
        return number
    }
}
