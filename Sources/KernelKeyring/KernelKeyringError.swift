internal import Glibc
internal import SystemFiles

/// Why the kernel's keyrings could not do what was asked.
package struct KernelKeyringError: Error, Equatable {
    /// The cause, for choosing a remedy.
    package enum Code: Sendable {
        /// The kernel has no keyrings, or a container or sandbox forbids them.
        case unavailable
        /// The login has no session keyring of its own.
        case noSession
        /// The session keyring has ended: its login is over.
        case sessionEnded
        /// The user has as many keys as the kernel allows.
        case full
        /// What was put in could not be found again.
        case notThere
        /// Anything else that the kernel reported.
        case failed
    }

    /// The cause.
    package let code: Code
    /// One sentence without values, no capital, no full stop.
    package let reason: String

    /// Makes an error.
    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Translates what the kernel answered to `call`.
    init(number: Int32, call: String) {
        let text = SystemError(number).reason
        switch number {
        case ENOSYS, EPERM:
            self.init(
                .unavailable,
                "the kernel's keyrings cannot be used here, as in many containers "
                    + "(\(call): \(text))")
        case EDQUOT, ENOMEM:
            self.init(.full, "the kernel takes no more keys of this user (\(call): \(text))")
        default: self.init(.failed, "the kernel's keyring failed (\(call): \(text))")
        }
    }
}
