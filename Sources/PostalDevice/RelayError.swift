internal import VercelAPI

/// Why a relay did not do what it was asked for. Names nothing that was sent.
package struct RelayError: Error, Equatable {
    /// The kind of failure.
    package enum Code: Sendable {
        /// The invite code is unknown, used or expired.
        case inviteRefused
        /// The relay does not know the device, or does not know it any more.
        case deviceRefused
        /// It cannot be reached, or is busy.
        case unavailable
        /// What answers is no relay, or one that speaks another language.
        case notARelay
        /// It may have done it: the answer is lost.
        case outcomeUnknown
        /// Something here failed, before anything was sent.
        case failed
    }

    /// The kind of failure.
    package let code: Code
    /// A few words, without capital or full stop.
    package let reason: String
    /// How long the relay wants to be left alone; nil where it does not say.
    package var retryAfter: Duration?

    /// Names code and reason.
    package init(_ code: Code, _ reason: String, retryAfter: Duration? = nil) {
        (self.code, self.reason, self.retryAfter) = (code, reason, retryAfter)
    }

    init(_ error: TransportError, mayHaveHappened: Bool) {
        switch error.code {
        case .tls:
            self.init(.unavailable, "no secure connection to the relay could be made")
        case .libraryMissing: self.init(.failed, error.reason)
        case .cannotResolve, .cannotConnect:
            self.init(.unavailable, "the relay cannot be reached")
        default:
            let isLost = mayHaveHappened && error.mayHaveReachedServer
            self.init(
                isLost ? .outcomeUnknown : .unavailable,
                isLost ? "the relay's answer is lost" : "the relay does not answer")
        }
    }

    /// What an answer of another status than the expected one means.
    init(status: Int, headers: HTTPHeaders) {
        switch status {
        case 401: self.init(.deviceRefused, "the relay does not know this device")
        case 429, 500...599:
            let wanted = headers.number("Retry-After").map { Duration.seconds(min($0, 3_600)) }
            self.init(.unavailable, "the relay is busy (status \(status))", retryAfter: wanted)
        default:
            self.init(.notARelay, "what answers there is no relay (status \(status))")
        }
    }
}
