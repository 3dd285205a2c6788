/// An error of a store, without names of devices, accounts or events.
package struct StoreError: Error, Equatable {
    package enum Code: Sendable {
        /// It cannot be read or written now, because of space, disk or network. Retrying makes
        /// sense.
        case unavailable
        /// Another relay uses it.
        case inUse
        /// It is damaged or not a relay's store.
        case damaged
        /// It does not exist.
        case missing
        /// Other users can read it.
        case insecure
        /// A newer program wrote it.
        case newerFormat
    }

    package let code: Code
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
