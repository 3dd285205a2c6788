/// Why a request got no answer. Names the host at most; nothing of token, body or answer.
package struct TransportError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: String, Sendable {
        /// The host's name has no address.
        case cannotResolve
        /// Nothing accepts connections there.
        case cannotConnect
        /// No secure connection could be made, such as for an unknown certificate.
        case tls
        /// It took longer than allowed.
        case timedOut
        /// The connection ended before the answer was complete.
        case cut
        /// The caller asked for it.
        case cancelled
        /// The answer is larger than allowed.
        case tooLarge
        /// The library that sends requests is not installed.
        case libraryMissing
        /// Anything else.
        case failed
    }

    /// The kind of failure.
    package let code: Code
    /// Whether the server may have got the request and acted on it.
    package let mayHaveReachedServer: Bool
    /// A few words on what happened.
    package let reason: String

    /// Makes an error.
    package init(_ code: Code, mayHaveReachedServer: Bool, reason: String) {
        self.code = code
        self.mayHaveReachedServer = mayHaveReachedServer
        self.reason = reason
    }

    /// The code and the reason.
    package var description: String { "\(code.rawValue): \(reason)" }
}
