package import HTTPClient

extension VercelAPIError {
    /// Creates the error of a request without a response.
    package init(transport error: TransportError, isRepeatable: Bool) {
        let (code, reason, hint): (Code, String, String?) =
            switch error.code {
            case .cancelled: (.cancelled, "canceled", nil)
            case .libraryMissing:
                (.libraryMissing, "libcurl cannot be loaded", "install libcurl (libcurl.so.4)")
            case .tooLarge: (.tooLarge, "the response is too large", nil)
            case .cannotResolve:
                (
                    .unavailable, "the API's host name cannot be resolved",
                    "check the network and --api-url"
                )
            case .cannotConnect:
                (.unavailable, "cannot connect to the API", "check the network and --api-url")
            case .tls:
                (
                    .unavailable, "cannot establish a secure connection to the API",
                    "check the system's certificates and clock"
                )
            case .timedOut: (.unavailable, "the API did not respond in time", nil)
            case .tooSlow:
                (
                    .unavailable, "the API's response arrives too slowly to be waited for",
                    "check the network and --api-url"
                )
            case .cut: (.unavailable, "the connection to the API was lost", nil)
            case .failed: (.unavailable, "the request failed", nil)
            }
        self.init(code, reason: reason, hint: hint)
        transport = error
        // Whatever ended it, even an interrupt: the state of a non-idempotent request that may have
        // arrived has to be checked.
        if !isRepeatable, error.mayHaveReachedServer { self = withUnknownOutcome }
    }
}
