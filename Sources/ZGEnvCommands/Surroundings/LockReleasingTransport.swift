internal import HTTPClient

/// A transport that releases the lock during requests, but not while a caller handles a response.
final class LockReleasingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let turns: GlobalLock

    init(_ transport: any HTTPTransport, _ turns: GlobalLock) {
        (self.transport, self.turns) = (transport, turns)
    }

    func send(
        _ requests: [HTTPRequest], concurrency: Int,
        onResponse: (Int, Result<HTTPResponse, TransportError>) -> Bool
    ) {
        turns.away {
            transport.send(requests, concurrency: concurrency) { number, result in
                turns.back { onResponse(number, result) }
            }
        }
    }

    func stream(
        _ request: HTTPRequest, onBytes: (RawSpan) -> Bool
    ) throws(TransportError) -> HTTPResponse {
        try turns.away { () throws(TransportError) in
            try transport.stream(request) { bytes in turns.back { onBytes(bytes) } }
        }
    }
}

/// A ``Sleeper`` that releases the lock while it waits.
final class LockReleasingSleeper: Sleeper {
    private let room: any Sleeper
    private let turns: GlobalLock

    init(_ room: any Sleeper, _ turns: GlobalLock) {
        (self.room, self.turns) = (room, turns)
    }

    var elapsed: Duration { room.elapsed }

    var secondsSince1970: Int64 { room.secondsSince1970 }

    func wait(_ duration: Duration) -> Bool { turns.away { room.wait(duration) } }
}
