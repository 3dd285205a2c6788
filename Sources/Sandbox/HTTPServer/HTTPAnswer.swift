internal import JSON

/// What goes back for a request, and how the connection treats it.
struct HTTPAnswer: Sendable {
    /// What stands after the headers.
    enum Body: Sendable {
        case bytes([UInt8])
        /// Pieces as they come: an empty piece means "nothing yet", `nil` the end.
        case stream(@Sendable () -> [UInt8]?)
    }

    /// What happens to the connection.
    enum Delivery: Sendable, Equatable {
        case whole
        /// RST instead of an answer.
        case reset
        /// The connection ends without one byte.
        case silence
        /// The headers announce the whole body, half of it comes.
        case halfBody
    }

    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: Body
    var delivery: Delivery = .whole
    /// How long to wait before the answer, in seconds.
    var delaySeconds: Double = 0

    /// A JSON answer.
    static func json(
        _ value: JSONValue, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> HTTPAnswer {
        HTTPAnswer(
            status: status,
            headers: [("Content-Type", "application/json; charset=utf-8")] + headers,
            body: .bytes(value.encoded))
    }

    /// An answer without a body.
    static func empty(status: Int) -> HTTPAnswer { HTTPAnswer(status: status, body: .bytes([])) }

    /// One JSON value a line, ended at once.
    static func lines(_ values: [JSONValue]) -> HTTPAnswer {
        HTTPAnswer(
            status: 200, headers: [("Content-Type", "application/stream+json")],
            body: .bytes(values.flatMap { $0.encoded + [0x0A] }))
    }
}
