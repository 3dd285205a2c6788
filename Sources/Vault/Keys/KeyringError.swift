/// A failed keyring operation.
package struct KeyringError: Error, Equatable {
    /// The cause, from which callers choose a hint.
    package enum Code: Sendable {
        /// The client library is not installed.
        case libraryMissing
        /// There is no session bus.
        case noBus
        /// The bus has no Secret Service.
        case noProvider
        /// The collection is locked, and the user dismissed the prompt or cannot be prompted.
        case locked
        /// The item contains something that is not ours.
        case malformed
        /// Any other error of the service.
        case failed
    }

    package let code: Code
    /// One sentence without values.
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
