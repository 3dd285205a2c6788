internal import HTTPClient

/// Why a request to a relay failed. Contains nothing that was sent.
package struct RelayError: Error, Equatable {
    package enum Code: Sendable {
        /// The invite code is unknown, used or expired.
        case inviteRefused
        /// The device is unknown or was removed.
        case deviceRefused
        /// The relay is unreachable or busy.
        case unavailable
        /// The server is not a relay, or speaks an incompatible protocol.
        case notARelay
        /// The request may have succeeded: the response was lost.
        case outcomeUnknown
        /// A local failure, before anything was sent.
        case failed
    }

    package let code: Code
    /// A few words, without capital or full stop.
    package let reason: String
    /// How long the relay asks to wait; nil if it does not say.
    package var retryAfter: Duration?

    package init(_ code: Code, _ reason: String, retryAfter: Duration? = nil) {
        (self.code, self.reason, self.retryAfter) = (code, reason, retryAfter)
    }

    init(_ error: TransportError, mayHaveHappened: Bool) {
        switch error.code {
        case .tls:
            self.init(.unavailable, "cannot establish a secure connection to the relay")
        case .libraryMissing: self.init(.failed, error.reason)
        case .cannotResolve, .cannotConnect:
            self.init(.unavailable, "the relay cannot be reached")
        default:
            let isLost = mayHaveHappened && error.mayHaveReachedServer
            self.init(
                isLost ? .outcomeUnknown : .unavailable,
                isLost ? "the relay's response was lost" : "the relay is not responding")
        }
    }

    /// Describes a response with an unexpected status.
    init(status: Int, headers: HTTPHeaders) {
        switch status {
        case 401: self.init(.deviceRefused, "the relay has no record of this device")
        case 429, 500...599:
            let wanted = headers.number("Retry-After").map { Duration.seconds(min($0, 3_600)) }
            self.init(.unavailable, "the relay is busy (status \(status))", retryAfter: wanted)
        default:
            self.init(.notARelay, "the server is not a relay (status \(status))")
        }
    }
}
