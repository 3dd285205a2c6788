/// Why a keyring could not answer.
package struct KeyringError: Error, Equatable {
    /// The cause, for choosing a remedy.
    package enum Code: Sendable {
        /// The client library is not installed.
        case libraryMissing
        /// There is no session bus to reach a service on.
        case noBus
        /// The bus has no Secret Service.
        case noProvider
        /// The collection is locked and was not unlocked: the user declined, or nobody can be asked.
        case locked
        /// The item holds something that is not ours.
        case malformed
        /// Anything else that the service reported.
        case failed
    }

    /// The cause.
    package let code: Code
    /// One sentence without values.
    package let reason: String

    /// Makes an error.
    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
