package import Sealing

/// One request, complete but for what every transport adds by itself.
///
/// The token and the body stay in guarded memory. The target holds names and ids only, never a
/// value.
package struct HTTPRequest {
    /// What is to be done with the resource.
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// What is to be done.
    package let method: Method
    /// Where it goes. The token is sent to this origin and to no other.
    package let origin: APIOrigin
    /// Path and query, percent-encoded, beginning with `/`.
    package let target: String
    /// Header fields besides `Authorization`.
    package var headers: [(name: String, value: String)]
    /// What follows `Bearer ` in the `Authorization` field; printable ASCII.
    package let token: SecretSlice?
    /// What is sent as JSON.
    package let body: GuardedBytes?
    /// Whether sending it twice does no more than sending it once. A transport must not send a
    /// request again by itself unless this is true.
    package let isRepeatable: Bool
    /// How long to wait, where it differs from the transport's own times.
    package var timeouts: HTTPTimeouts?

    /// Makes a request. Nothing is sent.
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

/// How long a transport waits for the steps of one request.
package struct HTTPTimeouts: Sendable, Equatable {
    /// Until name lookup, connection and TLS handshake are done.
    package var connect: Duration
    /// From then on until the first byte of the answer.
    package var firstByte: Duration
    /// Between two pieces of the answer.
    package var idle: Duration
    /// For everything together; nil for streams that may stay open.
    package var total: Duration?

    /// Sets all of them; the defaults fit an ordinary request.
    package init(
        connect: Duration = .seconds(10), firstByte: Duration = .seconds(30),
        idle: Duration = .seconds(30), total: Duration? = .seconds(120)
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }
}
