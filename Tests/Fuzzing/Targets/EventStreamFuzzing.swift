import PostalProtocol

/// Properties of parsing any bytes from a relay.
enum EventStreamFuzzing {
    /// Reads a stream whole, byte by byte, and cut at places that its own bytes choose: the events
    /// are the same, none is longer than the limit, and parsing them ends.
    static func exercise(_ input: [UInt8]) throws {
        let whole = read([input])
        let single = read(input.map { [$0] })
        var pieces: [[UInt8]] = []
        var rest = input[...]
        while let first = rest.first {
            let count = min(Int(first) % 97 + 1, rest.count)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        guard whole == single, whole == read(pieces) else {
            throw FuzzFinding("the events depend on where the bytes are cut")
        }
        for event in whole.events {
            let count = event.data.count + event.name.utf8.count + (event.id?.utf8.count ?? 0)
            // Invalid UTF-8 in a name or id grows to three bytes for one.
            guard event.data.count <= EventStreamParser.byteLimit,
                count <= 4 * EventStreamParser.byteLimit
            else { throw FuzzFinding("an event of \(count) bytes was handed over") }
            switch RelayMessage(event) {
            case .sealed(let number, let box):
                guard number > 0, box.count > 48, box.count <= PostalEvent.byteLimit + 48 else {
                    throw FuzzFinding("a box of \(box.count) bytes was handed over")
                }
            case .missed(let number, let count):
                guard number > 0, count >= 0 else { throw FuzzFinding("\(count) are missed") }
            default: break
            }
        }
        // Written out it may be longer than before, and then it is not sealed.
        if let event = PostalEvent(sealedText: input), let text = event.sealedText,
            PostalEvent(sealedText: text) != event
        {
            throw FuzzFinding("an event that was read is another one when it is sealed again")
        }
    }

    private struct Reading: Equatable {
        var events: [EventStreamParser.Event] = []
        var lostCount = 0
        var signCount = 0
    }

    private static func read(_ pieces: [[UInt8]]) -> Reading {
        var parser = EventStreamParser()
        var reading = Reading()
        for piece in pieces { parser.take(piece) { reading.events.append($0) } }
        (reading.lostCount, reading.signCount) = (parser.lostCount, parser.signCount)
        return reading
    }
}
