internal import JSON

/// The response to a request.
struct HTTPAnswer: Sendable {
    var status: UInt32
    var type = "application/json"
    var body: [UInt8] = []
    /// Seconds until the client should retry.
    var retryAfter: Int?
    /// The field `Allow`, for a wrong method.
    var allowed: String?
    /// Sent in place of the body.
    var stream: EventStream?

    static func json(_ value: JSONValue, status: UInt32 = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, body: value.encoded)
    }

    /// Returns the response of a refusal, the same for every client.
    static func refusal(_ reason: Refusal) -> HTTPAnswer {
        var answer = json(
            ["error": ["code": .string(reason.rawValue), "message": .string(reason.message)]],
            status: reason.status)
        answer.retryAfter = reason.retryAfter
        return answer
    }

    static func stream(_ stream: EventStream) -> HTTPAnswer {
        var answer = HTTPAnswer(status: 200)
        answer.type = "text/event-stream"
        answer.stream = stream
        return answer
    }
}

/// The parts of a request's head that the relay uses.
struct RequestHead: Sendable {
    var method: String
    /// Without the query.
    var path: String
    /// The digest of the bearer token; nil if it is missing or malformed.
    var token: DeviceToken?
    /// `x-vercel-signature`.
    var signature: String?
    /// `Last-Event-ID`.
    var lastEventID: String?
    /// The client's address according to the proxy; nil without a proxy.
    var client: String?
}

/// How to handle a request, decided from its head.
enum RequestPlan: Sendable {
    /// Answer it whatever its body is.
    case answer(HTTPAnswer)
    /// Read its body, then run the work.
    case work(BodyUse, RequestWork)

    /// What to do with a body.
    enum BodyUse: Equatable, Sendable {
        /// Keep it; refuse more than `limit` bytes.
        case kept(limit: Int)
        /// Read and drop it; refuse more than `limit` bytes.
        case dropped(limit: Int)

        var limit: Int {
            switch self {
            case .kept(let limit), .dropped(let limit): limit
            }
        }
    }
}

/// Handles a request on any thread, and calls back exactly once.
typealias RequestWork =
    @Sendable (
        _ body: [UInt8], _ connection: ConnectionHandle,
        _ reply: @escaping @Sendable (HTTPAnswer) -> Void
    ) -> Void
