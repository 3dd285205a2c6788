internal import VercelAPI

/// Another transport, whose user gives up the turn while it is under way. Made for one piece of work.
final class TurnTakingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let turns: TurnTaking

    init(_ transport: any HTTPTransport, _ turns: TurnTaking) {
        (self.transport, self.turns) = (transport, turns)
    }

    func send(
        _ requests: [HTTPRequest], concurrency: Int,
        whenAnswered: (Int, Result<HTTPResponse, TransportError>) -> Bool
    ) {
        turns.away {
            transport.send(requests, concurrency: concurrency, whenAnswered: whenAnswered)
        }
    }

    func stream(
        _ request: HTTPRequest, onBytes: (RawSpan) -> Bool
    ) throws(TransportError) -> HTTPResponse {
        try turns.away { () throws(TransportError) in
            try transport.stream(request, onBytes: onBytes)
        }
    }
}

/// Another waiting room, whose user gives up the turn while it waits.
final class TurnTakingWaitingRoom: WaitingRoom {
    private let room: any WaitingRoom
    private let turns: TurnTaking

    init(_ room: any WaitingRoom, _ turns: TurnTaking) {
        (self.room, self.turns) = (room, turns)
    }

    var elapsed: Duration { room.elapsed }

    var secondsSince1970: Int64 { room.secondsSince1970 }

    func wait(_ duration: Duration) -> Bool { turns.away { room.wait(duration) } }
}
