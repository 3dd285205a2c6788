extension VercelAPIError {
    /// What it means that there was no answer.
    package init(transport error: TransportError, isRepeatable: Bool) {
        let (code, reason, hint): (Code, String, String?) =
            switch error.code {
            case .cancelled: (.cancelled, "stopped", nil)
            case .libraryMissing:
                (.libraryMissing, "libcurl cannot be loaded", "install libcurl (libcurl.so.4)")
            case .tooLarge: (.tooLarge, "the answer is larger than is accepted", nil)
            case .cannotResolve:
                (.unavailable, "the API's host name cannot be resolved", "check the network")
            case .cannotConnect:
                (.unavailable, "cannot connect to the API", "check the network and --api-url")
            case .tls:
                (
                    .unavailable, "no secure connection to the API",
                    "check the system's certificates and clock"
                )
            case .timedOut: (.unavailable, "the API did not answer in time", nil)
            case .cut: (.unavailable, "the connection to the API was cut", nil)
            case .failed: (.unavailable, "the request failed", nil)
            }
        // A request that must not be sent twice and may have arrived has to be looked up, whatever
        // ended it, an interrupt included.
        if !isRepeatable, error.mayHaveReachedServer {
            self.init(
                .outcomeUnknown, reason: "\(reason); whether the platform did it is not known",
                hint: "look it up before doing it again")
        } else {
            self.init(code, reason: reason, hint: hint)
        }
        transport = error
    }
}
