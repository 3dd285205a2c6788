internal import HTTPClient
internal import JSON

/// The meaning of one attempt: success or an error, and whether to retry.
struct ResponseVerdict {
    /// Whether to retry.
    let outcome: RetryPolicy.Outcome
    /// The error to report if there is no further attempt; nil for success.
    let error: VercelAPIError?

    init(
        _ result: Result<HTTPResponse, TransportError>, call: APICall, secrets: ResponseSecrets,
        secondsSince1970: Int64
    ) {
        switch result {
        case .failure(let failure):
            error = VercelAPIError(transport: failure, isRepeatable: call.isRepeatable)
            switch failure.code {
            case .cannotResolve, .cannotConnect: outcome = .unreachable
            case .timedOut, .cut, .failed:
                outcome = .broken(mayHaveReachedServer: failure.mayHaveReachedServer)
            case .tls, .cancelled, .tooLarge, .tooSlow, .libraryMissing: outcome = .final
            }
        case .success(let response):
            (outcome, error) = Self.judge(
                response, call: call, secrets: secrets, secondsSince1970: secondsSince1970)
        }
    }

    private static func judge(
        _ response: HTTPResponse, call: APICall, secrets: ResponseSecrets, secondsSince1970: Int64
    ) -> (RetryPolicy.Outcome, VercelAPIError?) {
        let status = response.status
        if (200..<300).contains(status) {
            if isExpected(response.body, by: call) { return (.final, nil) }
            let error = VercelAPIError(
                .unavailable, reason: "the response is truncated or not JSON")
            return broken(error, status: status, call: call)
        }
        var error = VercelAPIError(answer: response, secrets: secrets)
        let wanted = RetryAfter.duration(of: response, secondsSince1970: secondsSince1970)
        switch status {
        case 429:
            error.retryAfter = wanted
            return (.notNow(after: wanted), error)
        case 503 where response.headers[name: "Retry-After"] != nil:
            error.retryAfter = wanted
            return (.notNow(after: wanted), error)
        case 400 where isBusy(response): return (.notNow(after: nil), error)
        case 408, 500...: return broken(error, status: status, call: call)
        default: return (.final, error)
        }
    }

    private static func broken(
        _ error: VercelAPIError, status: Int, call: APICall
    ) -> (RetryPolicy.Outcome, VercelAPIError) {
        var error = call.isRepeatable ? error : error.withUnknownOutcome
        error.status = status
        return (.broken(mayHaveReachedServer: true), error)
    }

    private static func isExpected(_ body: GuardedBytes, by call: APICall) -> Bool {
        switch call.expectation {
        case .json: body.withBytes(JSONTree.isJSON)
        case .nothingOrJSON: body.count == 0 || body.withBytes(JSONTree.isJSON)
        case .lines: true
        }
    }

    /// Returns whether Vercel rejected a write because another one to the same project is in
    /// progress. There is no error code for that, and Vercel's documentation misspells the message.
    private static func isBusy(_ response: HTTPResponse) -> Bool {
        // Reads the body itself: the error withholds the message if it happens to contain a short
        // value.
        let body = response.body.withBytes { JSONDecoding.value(APIErrorBody.self, from: $0) }
        guard let message = body?.message?.lowercased() else { return false }
        return message.contains("ongoing") && message.contains("update")
    }
}

/// The wait that Vercel asks for.
enum RetryAfter {
    /// Returns the wait from the `Retry-After` field (seconds or a date), else from the error's own
    /// limit, or nil if neither is present. A date is relative to the response's `Date` if present,
    /// so that a wrong local clock does not matter.
    static func duration(of response: HTTPResponse, secondsSince1970: Int64) -> Duration? {
        let now =
            response.headers[name: "Date"].flatMap { HTTPDate.seconds($0) }
            ?? secondsSince1970
        if let text = response.headers[name: "Retry-After"] {
            if let seconds = response.headers.number("Retry-After") {
                return .seconds(min(seconds, 1 << 32))
            }
            if let date = HTTPDate.seconds(text) { return .seconds(max(date - now, 0)) }
        }
        let body = response.body.withBytes { JSONDecoding.value(APIErrorBody.self, from: $0) }
        guard let reset = body?.resetMilliseconds else { return nil }
        let (left, overflow) = reset.subtractingReportingOverflow(now * 1000)
        guard !overflow, left > 0, left < 1 << 42 else { return nil }
        return .milliseconds(left)
    }
}
