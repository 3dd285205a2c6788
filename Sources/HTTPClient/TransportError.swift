/// Why a request got no response. Contains at most the host name, never a token or a body.
package struct TransportError: Error, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The host name does not resolve.
        case cannotResolve
        /// The connection was refused or cannot be made.
        case cannotConnect
        /// No secure connection is possible, for example because of an unknown certificate.
        case tls
        case timedOut
        /// The response arrived more slowly than ``HTTPTimeouts/slowest``. Unlike a time-out, a
        /// retry would only repeat it.
        case tooSlow
        /// The connection ended before the response was complete.
        case cut
        /// The caller canceled the request.
        case cancelled
        /// The response exceeds the size limit.
        case tooLarge
        /// libcurl is not installed.
        case libraryMissing
        case failed
    }

    package let code: Code
    /// Whether the server may have received the request and acted on it.
    package let mayHaveReachedServer: Bool
    /// A short description of what happened.
    package let reason: String

    package init(_ code: Code, mayHaveReachedServer: Bool, reason: String) {
        self.code = code
        self.mayHaveReachedServer = mayHaveReachedServer
        self.reason = reason
    }

    package var description: String { "\(code.rawValue): \(reason)" }
}
