package import Sealing

/// One request, without the fields that every transport adds itself.
///
/// The token and the body stay in guarded memory. The target contains only names and ids, never a
/// value.
package struct HTTPRequest {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    package let method: Method
    /// The token is sent to this origin and to no other.
    package let origin: APIOrigin
    /// The percent-encoded path and query, starting with `/`.
    package let target: String
    /// The header fields other than `Authorization`.
    package var headers: [(name: String, value: String)]
    /// The bearer token; printable ASCII.
    package let token: SecretSlice?
    /// The JSON body.
    package let body: GuardedBytes?
    /// Whether the request is idempotent. A transport must not resend it by itself unless this is
    /// true.
    package let isRepeatable: Bool
    /// The timeouts, if they differ from the transport's own.
    package var timeouts: HTTPTimeouts?

    package init(
        method: Method = .get, origin: APIOrigin, target: String,
        headers: [(name: String, value: String)] = [], token: SecretSlice? = nil,
        body: GuardedBytes? = nil, isRepeatable: Bool? = nil, timeouts: HTTPTimeouts? = nil
    ) {
        self.method = method
        self.origin = origin
        self.target = target
        self.headers = headers
        self.token = token
        self.body = body
        self.isRepeatable = isRepeatable ?? (method != .post)
        self.timeouts = timeouts
    }
}

/// The timeouts of the steps of one request.
package struct HTTPTimeouts: Sendable, Equatable {
    /// For name lookup, connection and TLS handshake.
    package var connect: Duration
    /// From then until the first byte of the response.
    package var firstByte: Duration
    /// Between two pieces of the response.
    package var idle: Duration
    /// For the whole request; nil for streams that may stay open.
    package var total: Duration?
    /// How slowly a response may arrive. Not for streams that may stay open.
    package var slowest: Rate

    /// The fewest bytes of each span in which a response brings any.
    package struct Rate: Sendable, Equatable {
        package var byteCount: Int
        package var span: Duration

        package init(byteCount: Int, span: Duration) {
            self.byteCount = byteCount
            self.span = span
        }
    }

    package init(
        connect: Duration = .seconds(10), firstByte: Duration = .seconds(30),
        idle: Duration = .seconds(30), total: Duration? = .seconds(120),
        slowest: Rate = Rate(byteCount: 100, span: .seconds(10))
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
        self.slowest = slowest
    }
}
