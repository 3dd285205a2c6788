internal import Glibc
internal import SystemFiles

/// A failure of the kernel keyrings.
package struct KernelKeyringError: Error, Equatable {
    /// The cause, from which callers choose a hint.
    package enum Code: Sendable {
        /// The kernel has no keyrings, or a container or sandbox blocks them.
        case unavailable
        /// The login has no session keyring of its own.
        case noSession
        /// The session keyring was revoked: its login is over.
        case sessionEnded
        /// The kernel cannot store another key for this user.
        case full
        /// A stored key could not be found again.
        case notThere
        /// Any other kernel error.
        case failed
    }

    package let code: Code
    /// One sentence without values, no capital, no full stop.
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Translates the `errno` of `call`.
    init(number: Int32, call: String) {
        let text = SystemError(number).reason
        switch number {
        case ENOSYS, EPERM:
            self.init(
                .unavailable,
                "kernel keyrings are not available on this system, which is common in containers "
                    + "(\(call): \(text))")
        case EDQUOT, ENOMEM:
            self.init(.full, "the kernel cannot store another key for this user (\(call): \(text))")
        default: self.init(.failed, "the kernel keyring returned an error (\(call): \(text))")
        }
    }
}
