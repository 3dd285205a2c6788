package import JSON

/// A request as the sandbox saw it.
package struct SeenRequest: Sendable, Equatable {
    package let method: String
    /// The path with its query.
    package let path: String
    /// 0 if the connection was reset in place of a response.
    package let status: Int
    /// The body; texts that could be values are masked.
    package let body: JSONValue?

    init(_ entry: RequestLog.Entry) {
        method = entry.method
        path = entry.target
        status = entry.status
        body = entry.body
    }
}
