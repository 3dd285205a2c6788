/// What sends requests: libcurl, or a fake in tests.
///
/// Calls block until everything asked for is answered. Transports send nothing anywhere but to the
/// origin of a request, follow no redirect, and give an answer of any status as an answer, not as
/// an error. Not for use from several threads at once, nor from within the closures.
package protocol HTTPTransport: AnyObject {
    /// Sends `requests` in their order, at most `concurrency` at a time.
    ///
    /// - Parameter whenAnswered: Called once for each request that was begun, in the order of the
    ///   answers, with its place in `requests`. False keeps those not yet begun from being sent;
    ///   the ones under way are still finished.
    func send(
        _ requests: [HTTPRequest], concurrency: Int,
        whenAnswered: (Int, Result<HTTPResponse, TransportError>) -> Bool)

    /// Sends `request` and hands the body over piece by piece as it comes.
    ///
    /// - Parameter onBytes: Gets each piece of a body whose status is 2xx, and an empty one some ten
    ///   times a second while nothing comes; the body of another status is in the answer. False ends
    ///   the request, which is not an error.
    /// - Returns: The answer, with an empty body if that was handed over.
    func stream(
        _ request: HTTPRequest, onBytes: (RawSpan) -> Bool
    ) throws(TransportError) -> HTTPResponse
}

extension HTTPTransport {
    /// Sends one request and returns its answer.
    package func send(_ request: HTTPRequest) throws(TransportError) -> HTTPResponse {
        var answer: Result<HTTPResponse, TransportError>?
        send([request], concurrency: 1) { _, result in
            answer = result
            return true
        }
        guard let answer else {
            throw TransportError(.failed, mayHaveReachedServer: true, reason: "no answer given")
        }
        return try answer.get()
    }

    /// Sends `requests`, at most `concurrency` at a time, and returns the answers in their order.
    package func send(
        _ requests: [HTTPRequest], concurrency: Int
    ) -> [Result<HTTPResponse, TransportError>] {
        let missing = TransportError(.failed, mayHaveReachedServer: true, reason: "no answer given")
        var answers = [Result<HTTPResponse, TransportError>](
            repeating: .failure(missing), count: requests.count)
        send(requests, concurrency: concurrency) { place, result in
            answers[place] = result
            return true
        }
        return answers
    }
}
