internal import JSON
internal import Sealing

/// What an attempt means: good, an error, and whether to try again. Computes only.
struct AnswerVerdict {
    /// Whether to try again.
    let outcome: RetryPolicy.Outcome
    /// What to report if there is no further attempt; nil for a good answer.
    let error: VercelAPIError?

    /// Judges the end of one attempt of `call`.
    init(
        _ result: Result<HTTPResponse, TransportError>, call: APICall, secrets: AnswerSecrets,
        secondsSince1970: Int64
    ) {
        switch result {
        case .failure(let failure):
            error = VercelAPIError(transport: failure, isRepeatable: call.isRepeatable)
            switch failure.code {
            case .cannotResolve, .cannotConnect: outcome = .unreachable
            case .timedOut, .cut, .failed:
                outcome = .broken(mayHaveReachedServer: failure.mayHaveReachedServer)
            case .tls, .cancelled, .tooLarge, .libraryMissing: outcome = .final
            }
        case .success(let response):
            (outcome, error) = Self.judge(
                response, call: call, secrets: secrets, secondsSince1970: secondsSince1970)
        }
    }

    private static func judge(
        _ response: HTTPResponse, call: APICall, secrets: AnswerSecrets, secondsSince1970: Int64
    ) -> (RetryPolicy.Outcome, VercelAPIError?) {
        let status = response.status
        if (200..<300).contains(status) {
            if isExpected(response.body, by: call) { return (.final, nil) }
            let error = VercelAPIError(
                .unavailable, reason: "the answer is cut or is not JSON")
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
        guard !call.isRepeatable else {
            var error = error
            error.status = status
            return (.broken(mayHaveReachedServer: true), error)
        }
        var unknown = error.recoded(
            .outcomeUnknown,
            reason: "\(error.reason); whether the platform did it is not known",
            hint: "look it up before doing it again")
        unknown.status = status
        return (.broken(mayHaveReachedServer: true), unknown)
    }

    private static func isExpected(_ body: GuardedBytes, by call: APICall) -> Bool {
        switch call.expectation {
        case .json: body.withBytes(JSONTree.isJSON)
        case .nothingOrJSON: body.count == 0 || body.withBytes(JSONTree.isJSON)
        case .lines: true
        }
    }

    /// Whether the platform refused a write because another one of the same project is under way.
    /// It has no code of its own for that, and its own description misspells the sentence.
    private static func isBusy(_ response: HTTPResponse) -> Bool {
        // The answer itself: an error withholds the sentence where a short value happens to be in it.
        let body = response.body.withBytes { JSONDecoding.value(APIErrorBody.self, from: $0) }
        guard let message = body?.message?.lowercased() else { return false }
        return message.contains("ongoing") && message.contains("update")
    }
}

/// How long the platform wants to be left alone.
enum RetryAfter {
    /// The time from the `Retry-After` field (seconds or a date), else from the error's own limit;
    /// nil if neither is there. A date counts from the answer's own `Date` where it has one, so
    /// that a wrong clock here does no harm.
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
