/// Sends requests: libcurl, or a fake in tests.
///
/// Calls block until every request is answered. A transport contacts only the origin of a request,
/// follows no redirects, and returns a response of any status as a response, not as an error. It is
/// not thread-safe, and its closures must not call it.
package protocol HTTPTransport: AnyObject {
    /// Sends `requests` in order, at most `concurrency` at a time.
    ///
    /// - Parameter onResponse: Called once for each request that was started, in the order of the
    ///   responses, with its index in `requests`. False stops further requests from being sent;
    ///   those in progress are still finished.
    func send(
        _ requests: [HTTPRequest], concurrency: Int,
        onResponse: (Int, Result<HTTPResponse, TransportError>) -> Bool)

    /// Sends `request` and passes the body on in pieces as it arrives.
    ///
    /// - Parameter onBytes: Gets each piece of the body of a 2xx response, and an empty one about
    ///   ten times a second while nothing arrives; the body of any other status is in the response.
    ///   False ends the request, which is not an error.
    /// - Returns: The response, with an empty body if `onBytes` got it.
    func stream(
        _ request: HTTPRequest, onBytes: (RawSpan) -> Bool
    ) throws(TransportError) -> HTTPResponse
}

extension HTTPTransport {
    /// Sends one request and returns its response.
    package func send(_ request: HTTPRequest) throws(TransportError) -> HTTPResponse {
        var answer: Result<HTTPResponse, TransportError>?
        send([request], concurrency: 1) { _, result in
            answer = result
            return true
        }
        guard let answer else {
            throw TransportError(.failed, mayHaveReachedServer: true, reason: "no response")
        }
        return try answer.get()
    }
}
