/// What a server answered.
package struct HTTPResponse {
    /// The status code, 100 to 999.
    package let status: Int
    /// The header fields of the last answer; those of a proxy's are left out.
    package let headers: HTTPHeaders
    /// What came after them. May hold values, so it stays in guarded memory.
    package let body: GuardedBytes

    /// Puts an answer together.
    package init(status: Int, headers: HTTPHeaders, body: GuardedBytes) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
