package struct HTTPResponse {
    /// The status code, 100 to 999.
    package let status: Int
    /// The header fields of the final response, without a proxy's.
    package let headers: HTTPHeaders
    /// The body, in guarded memory because it may contain values.
    package let body: GuardedBytes

    package init(status: Int, headers: HTTPHeaders, body: GuardedBytes) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
