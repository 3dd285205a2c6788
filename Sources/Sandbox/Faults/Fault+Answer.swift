internal import JSON

extension Fault.Kind {
    /// Returns the response of a fault that prevents the request; `nil` for faults of handled
    /// requests.
    ///
    /// - Parameter project: The project of the request, by id or name.
    func prematureResponse(now: Int64, _ state: SandboxState, project: String?) throws(APIError)
        -> HTTPAnswer?
    {
        switch self {
        case .rateLimited(let seconds):
            let standing = RateLimiter.Standing(
                total: 120, remaining: 0, resetMilliseconds: now + Int64(seconds ?? 1) * 1000,
                isExceeded: true)
            var error = standing.error
            error.headers = standing.headers
            if let seconds { error.headers.append(("Retry-After", String(seconds))) }
            return error.answer
        case .status(let status), .escapes(.status(let status)):
            return Self.answer(status: status)
        case .says(let status, let message):
            return APIError(status: status, code: Self.code(of: status), message: message).answer
        case .reset:
            return HTTPAnswer(status: 0, body: .bytes([]), delivery: .reset)
        case .challenge(let challenge):
            var error = APIError(
                status: 403, code: challenge.rawValue,
                message: "Confirm your identity to read these variables.")
            error.headers = [
                (
                    "WWW-Authenticate",
                    "Bearer error=\"insufficient_user_authentication\", "
                        + "acr_values=\"urn:vercel:loa:sudo\""
                )
            ]
            return error.answer
        case .singleSignOn:
            return APIError.forbidden(
                "The team requires you to sign in again with single sign-on.",
                ["saml": true, "teamId": nil, "scope": "acme", "enforced": true]
            ).answer
        case .html:
            return HTTPAnswer(
                status: 200, headers: [("Content-Type", "text/html; charset=utf-8")],
                body: .bytes(
                    Array("<!DOCTYPE html><title>Sign in</title><h1>Sign in</h1>\n".utf8)))
        case .redirect(let address):
            return HTTPAnswer(status: 307, headers: [("Location", address)], body: .bytes([]))
        case .ongoing(let sentence):
            return APIError.badRequest(sentence).answer
        case .echoesValue(let echo):
            return echo.place == .failed ? nil : try echo.error(in: state, project: project).answer
        case .lostAnswer, .slow, .truncate, .drip, .escapes, .effect, .silentBatch, .act:
            return nil
        }
    }

    private static func answer(status: Int) -> HTTPAnswer {
        guard status >= 400 else { return .json([:], status: status) }
        return APIError(
            status: status, code: code(of: status), message: "Simulated fault."
        ).answer
    }

    private static func code(of status: Int) -> String {
        switch status {
        case 401, 403: "forbidden"
        case 402: "payment_required"
        case 404: "not_found"
        case 405: "method_unknown"
        case 409: "conflict"
        case 410: "gone"
        case 429: "rate_limited"
        case 503: "service_unavailable"
        case 500...599: "internal_server_error"
        default: "bad_request"
        }
    }

    /// Changes how a response is sent.
    func spoil(_ answer: inout HTTPAnswer) {
        switch self {
        case .lostAnswer: answer.delivery = .silence
        case .slow(let seconds): answer.delaySeconds = seconds
        case .truncate: answer.delivery = .halfBody
        case .drip: answer.delivery = .drip
        case .escapes(let extent): answer.addEscapes(everywhere: extent != .texts)
        case .rateLimited, .status, .says, .reset, .challenge, .singleSignOn, .html, .redirect,
            .ongoing, .effect, .silentBatch, .echoesValue, .act:
            break
        }
    }
}
