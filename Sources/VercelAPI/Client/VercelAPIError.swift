/// Why a call of the API did not do what it was asked for.
///
/// Holds no value and no token: what the platform says is cleaned, shortened, and withheld where it
/// repeats a value that was sent.
package struct VercelAPIError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure, by what can be done about it.
    package enum Code: String, Sendable, CaseIterable {
        /// The request carried no token.
        case tokenMissing
        /// The token is wrong, revoked or expired, or no token at all.
        case tokenInvalid
        /// The token is not allowed for that team.
        case teamUnauthorized
        /// The team wants a fresh login through its identity provider.
        case samlRequired
        /// The platform wants the user to prove who they are once more.
        case challengeRequired
        /// The account has restricted access, such as one that is not confirmed yet.
        case limitedUser
        /// Not allowed, for another reason.
        case forbidden
        /// Not there, or not visible in this scope.
        case notFound
        /// Exists already, or something else is under way.
        case conflict
        /// The platform does not accept what was sent.
        case badRequest
        /// The platform cannot do this with the resource as it is.
        case notPossible
        /// The account is blocked until it is paid for.
        case paymentRequired
        /// The platform has retired the resource or this version of the call.
        case gone
        /// What was sent, or what was answered, is too large.
        case tooLarge
        /// Too many requests, and waiting would take longer than allowed.
        case rateLimited
        /// No usable answer: no network, time-out, cut or non-JSON answer, 5xx.
        case unavailable
        /// The answer points elsewhere. The token was not sent there.
        case redirected
        /// JSON, but not what this call answers.
        case malformedAnswer
        /// The platform may or may not have done it; look before doing it again.
        case outcomeUnknown
        /// The caller's check right before an attempt refused it, and the attempt was not sent. An
        /// earlier one may have been carried out where ``VercelAPIError/isAfterRepeat`` says so.
        case notSent
        /// The caller asked to stop.
        case cancelled
        /// What was to be sent cannot be: not UTF-8, or not an id. Nothing was sent.
        case invalidRequest
        /// The library that sends requests is not installed.
        case libraryMissing
        /// No guarded memory left.
        case outOfMemory
    }

    /// What an existing variable is in the way with, as far as the platform says.
    package struct Conflict: Equatable, Sendable {
        /// The variable's name.
        package let key: String?
        /// Its targets.
        package let targets: [String]
        /// Its branch.
        package let gitBranch: String?
    }

    /// The kind of failure.
    package let code: Code
    /// One sentence on what happened.
    package let reason: String
    /// The status of the answer, if there was one.
    package internal(set) var status: Int?
    /// The platform's own code, cleaned.
    package internal(set) var platformCode: String?
    /// The platform's own words, cleaned; may be in any language and must not be trusted.
    package internal(set) var platformMessage: String?
    /// What to do about it.
    package internal(set) var hint: String?
    /// What is in the way, for ``Code/conflict``.
    package internal(set) var conflict: Conflict?
    /// How long the platform wants to be left alone, for ``Code/rateLimited``.
    package internal(set) var retryAfter: Duration?
    /// What happened on the way, where there was no answer.
    package internal(set) var transport: TransportError?
    /// Whether an earlier attempt of the same call may have been carried out, so that
    /// ``Code/notFound`` may mean "deleted by it" and ``Code/conflict`` "made by it".
    package internal(set) var isAfterRepeat = false
    /// Whether this attempt ended before it was sent, in the caller's check.
    package internal(set) var isBeforeSending = false
    /// The single items that were refused, where all items of a batch were.
    package internal(set) var failedVariables: [FailedVariable] = []

    /// Makes an error of this library's own words.
    package init(_ code: Code, reason: String, hint: String? = nil) {
        self.code = code
        self.reason = reason
        self.hint = hint
    }

    /// The reason with the platform's code and words.
    package var description: String {
        var text = reason
        if let platformCode { text += " (\(platformCode))" }
        if let platformMessage { text += ": \(platformMessage)" }
        return text
    }

    /// The same error with another code and reason, such as when a call knows better what it means.
    func recoded(_ code: Code, reason: String, hint: String? = nil) -> VercelAPIError {
        var error = VercelAPIError(code, reason: reason, hint: hint ?? self.hint)
        error.status = status
        error.platformCode = platformCode
        error.platformMessage = platformMessage
        error.conflict = conflict
        error.retryAfter = retryAfter
        error.transport = transport
        error.isAfterRepeat = isAfterRepeat
        error.isBeforeSending = isBeforeSending
        error.failedVariables = failedVariables
        return error
    }
}

extension VercelAPIError {
    /// Whether asking again later may help: nothing was answered, or nothing that says how it is.
    package var isPassing: Bool {
        [.unavailable, .rateLimited, .malformedAnswer].contains(code)
    }
}
