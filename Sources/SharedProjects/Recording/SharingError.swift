/// Why something cannot be shared, or taken over from a group. The reason is a sentence without
/// values.
package struct SharingError: Error, Equatable {
    package enum Code: String, Sendable {
        /// This member's role does not allow it.
        case notAllowed = "not-allowed"
        /// The keys of the project's current epoch are missing.
        case noKeys = "no-keys"
        /// The place shows another history than it did before.
        case otherHistory = "other-history"
        /// More than a change can hold.
        case tooLarge = "too-large"
        /// Somebody must decide first.
        case contested
        /// There is no such member, invite or version.
        case notFound = "not-found"
        /// The membership is forked: an admin must join the two sides first.
        case forked
    }

    package let code: Code
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        (self.code, self.reason) = (code, reason)
    }
}
