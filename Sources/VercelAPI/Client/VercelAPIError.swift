package import HTTPClient

/// Why an API call failed.
///
/// Contains no value and no token: Vercel's texts are sanitized, shortened, and withheld if they
/// contain a value.
package struct VercelAPIError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure, by what can be done about it.
    package enum Code: String, Sendable, CaseIterable {
        /// The request had no token.
        case tokenMissing
        /// The token is invalid, revoked or expired.
        case tokenInvalid
        /// The token has no access to that team.
        case teamUnauthorized
        /// The team requires a new login through its identity provider.
        case samlRequired
        /// Vercel requires the user to confirm their identity again.
        case challengeRequired
        /// The account has restricted access, for example because it is not confirmed yet.
        case limitedUser
        /// Forbidden for another reason.
        case forbidden
        /// Not found, or not visible in this scope.
        case notFound
        /// Already exists, or another operation is in progress.
        case conflict
        /// Vercel rejected the request.
        case badRequest
        /// Vercel cannot do this with the resource in its current state.
        case notPossible
        /// The account is blocked until a payment is made.
        case paymentRequired
        /// Vercel no longer supports the resource or this version of the call.
        case gone
        /// The request or the response is too large.
        case tooLarge
        /// Too many requests, and the wait would exceed the limit.
        case rateLimited
        /// No usable response: no network, a timeout, a truncated or non-JSON response, or a 5xx.
        case unavailable
        /// The response is a redirect. The token was not sent there.
        case redirected
        /// The response is JSON, but not what this call returns.
        case malformedAnswer
        /// Vercel may or may not have carried out the request; check before repeating it.
        case outcomeUnknown
        /// The caller's check rejected an attempt right before it was sent. An earlier attempt may
        /// have been carried out if ``VercelAPIError/isAfterRepeat`` is set.
        case notSent
        /// The caller canceled the call.
        case cancelled
        /// The request is not valid UTF-8 or contains an invalid id. Nothing was sent.
        case invalidRequest
        /// libcurl is not installed.
        case libraryMissing
        /// Out of guarded memory.
        case outOfMemory
    }

    /// The existing variable that caused the conflict, as far as Vercel reports it.
    package struct Conflict: Equatable, Sendable {
        package let key: String?
        package let targets: [String]
        package let gitBranch: String?
    }

    package private(set) var code: Code
    /// One sentence about what happened, without capital letter and full stop.
    package private(set) var reason: String
    /// The HTTP status, if there was a response.
    package internal(set) var status: Int?
    /// Vercel's error code, sanitized.
    package internal(set) var vercelCode: String?
    /// Vercel's message, sanitized; may be in any language and must not be trusted.
    package internal(set) var vercelMessage: String?
    /// What to do about it.
    package internal(set) var hint: String?
    /// The existing variable, for ``Code/conflict``.
    package internal(set) var conflict: Conflict?
    /// The wait that Vercel asks for, for ``Code/rateLimited``.
    package internal(set) var retryAfter: Duration?
    /// The transport's error, if there was no response.
    package internal(set) var transport: TransportError?
    /// Whether an earlier attempt of the same call may have been carried out, so that
    /// ``Code/notFound`` may mean "deleted by it" and ``Code/conflict`` "created by it".
    package internal(set) var isAfterRepeat = false
    /// Whether the caller's check ended this attempt before it was sent.
    package internal(set) var isBeforeSending = false
    /// The rejected items, if all items of a batch were rejected.
    package internal(set) var failedVariables: [FailedVariable] = []

    /// Creates an error with a reason of this library.
    package init(_ code: Code, reason: String, hint: String? = nil) {
        self.code = code
        self.reason = reason
        self.hint = hint
    }

    /// The reason with Vercel's code and message.
    package var description: String {
        var text = reason
        if let vercelCode { text += " (\(vercelCode))" }
        if let vercelMessage { text += ": \(vercelMessage)" }
        return text
    }

    /// Returns the error with a different code and reason, for a call that can be more specific.
    func recoded(_ code: Code, reason: String, hint: String? = nil) -> VercelAPIError {
        var error = self
        (error.code, error.reason, error.hint) = (code, reason, hint ?? self.hint)
        return error
    }

    /// The same error for a request that must not be sent twice and may have been carried out.
    var withUnknownOutcome: VercelAPIError {
        recoded(
            .outcomeUnknown,
            reason: "\(reason); it is unknown whether Vercel carried out the request",
            hint: "check whether the change was made before trying again")
    }
}

extension VercelAPIError {
    /// Whether Vercel refused a request because of the token, or hid what it is about. Which
    /// status a token gets outside of its scope is not documented.
    package var isDenial: Bool {
        [.tokenInvalid, .forbidden, .notFound, .teamUnauthorized].contains(code)
    }

    /// Whether trying again later may help, because the response is missing or unusable.
    package var isTemporary: Bool {
        [.unavailable, .rateLimited, .malformedAnswer].contains(code)
    }
}
