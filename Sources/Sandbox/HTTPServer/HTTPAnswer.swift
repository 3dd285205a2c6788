internal import JSON

/// A response, and how the connection sends it.
struct HTTPAnswer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// Chunks: an empty one means "nothing yet", `nil` the end.
        case stream(@Sendable () -> [UInt8]?)
    }

    /// How the response is sent.
    enum Delivery: Sendable, Equatable {
        case whole
        /// RST in place of a response.
        case reset
        /// The connection is closed without a byte.
        case silence
        /// The headers announce the whole body, but only half is sent.
        case halfBody
        /// The body is sent a byte at a time, two or three in a second.
        case drip
    }

    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: Body
    var delivery: Delivery = .whole
    /// Delay of the response, in seconds.
    var delaySeconds: Double = 0

    static func json(
        _ value: JSONValue, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> HTTPAnswer {
        HTTPAnswer(
            status: status,
            headers: [("Content-Type", "application/json; charset=utf-8")] + headers,
            body: .bytes(value.encoded))
    }

    /// A response without a body.
    static func empty(status: Int) -> HTTPAnswer { HTTPAnswer(status: status, body: .bytes([])) }

    /// A finite stream of JSON lines.
    static func lines(_ values: [JSONValue]) -> HTTPAnswer {
        HTTPAnswer(
            status: 200, headers: [("Content-Type", "application/stream+json")],
            body: .bytes(values.flatMap { $0.encoded + [0x0A] }))
    }
}
