package import JSON

/// One request as the sandbox saw it.
package struct SeenRequest: Sendable, Equatable {
    /// The method in capitals.
    package let method: String
    /// The path with its query.
    package let path: String
    /// 0 when the connection was reset in place of an answer.
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
