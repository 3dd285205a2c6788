internal import JSON

/// What goes back for a request.
struct HTTPAnswer: Sendable {
    var status: UInt32
    var type = "application/json"
    var body: [UInt8]
    /// When to come again, in seconds.
    var retryAfter: Int?
    /// What may be done here, for an answer that something else may not.
    var allowed: String?
    /// A stream goes back instead of the body.
    var stream: EventStream?

    init(status: UInt32, body: [UInt8] = []) { (self.status, self.body) = (status, body) }

    /// A JSON answer.
    static func json(_ value: JSONValue, status: UInt32 = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, body: value.encoded)
    }

    /// The answer of a refusal, the same for everybody.
    static func refusal(_ reason: Refusal) -> HTTPAnswer {
        var answer = json(
            ["error": ["code": .string(reason.rawValue), "message": .string(reason.message)]],
            status: reason.status)
        answer.retryAfter = reason.retryAfter
        return answer
    }

    /// A stream of events.
    static func stream(_ stream: EventStream) -> HTTPAnswer {
        var answer = HTTPAnswer(status: 200)
        answer.type = "text/event-stream"
        answer.stream = stream
        return answer
    }
}

/// The head of a request, as far as anybody here asks for it.
struct RequestHead: Sendable {
    var method: String
    /// Without the query.
    var path: String
    /// The digest of the bearer's token; nil where there is none, or none that can be one.
    var token: DeviceToken?
    /// `x-vercel-signature`.
    var signature: String?
    /// `Last-Event-ID`.
    var lastEventID: String?
    /// Who asks, as the proxy says; nil where no proxy is between.
    var client: String?
}

/// What is to be done with a request whose head is there.
enum RequestPlan: Sendable {
    /// It is answered whatever its body is.
    case answer(HTTPAnswer)
    /// Its body is read, and then something is done.
    case work(BodyUse, RequestWork)

    /// What its body is good for.
    enum BodyUse: Equatable, Sendable {
        /// It is kept up to so many bytes; a longer one is refused.
        case kept(limit: Int)
        /// It is read and dropped; one longer than that is refused.
        case dropped(limit: Int)

        var limit: Int {
            switch self {
            case .kept(let limit), .dropped(let limit): limit
            }
        }
    }
}

/// Does what a request asks for, on any thread, and calls back once.
typealias RequestWork =
    @Sendable (
        _ body: [UInt8], _ connection: ConnectionHandle,
        _ reply: @escaping @Sendable (HTTPAnswer) -> Void
    ) -> Void
