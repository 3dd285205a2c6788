internal import JSON
internal import Sealing

/// What a relay tells a device in one event of its stream; `docs/postal-protocol.md` has the forms.
package enum RelayMessage: Equatable, Sendable {
    /// Something happened on the platform: the event's number, and the box that holds it.
    case sealed(number: Int64, box: [UInt8])
    /// So many events up to a number are not kept any more; 0 for "not known how many".
    case missed(number: Int64, count: Int)
    /// The device is none any more.
    case removed
    /// Something of another form, which is passed over with its number.
    case unreadable(number: Int64?)

    /// What ``PostalEvent/sealedText`` and the seal around it may take.
    private static let boxByteCounts = 49...(PostalEvent.byteLimit + 48)

    /// Reads an event of the stream; nil for one of a kind that is not known.
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
            // That some are missing counts, however many: nothing is left out for a wrong number.
            let missed = try? JSONDecoder().decode(Missed.self, from: event.data)
            self = .missed(number: number, count: min(max(missed?.count ?? 0, 0), 1_000_000))
        case "removed": self = .removed
        default: return nil
        }
    }

    /// Reads the number of an event: digits alone, above 0.
    package static func number(_ text: String) -> Int64? {
        guard (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
            number > 0
        else { return nil }
        return number
    }
}
