internal import Glibc
internal import SystemFiles

/// A place that cannot be used. Contains no credentials and no values.
package struct PlaceError: Error, Equatable {
    package enum Code: String, Sendable, CaseIterable {
        /// The place does not answer or does not exist.
        case unreachable
        /// The place rejects what we send.
        case refused
        /// The place does not accept the user's credentials.
        case authentication
        /// The text is not the address of a place.
        case invalidAddress = "invalid-address"
        /// The address would send data unencrypted, run a program, or reveal a password.
        case insecureAddress = "insecure-address"
        /// git is not installed.
        case noGit = "no-git"
        /// No answer in time.
        case timeout
        /// The place has more data than we accept.
        case tooLarge = "too-large"
        /// The disk of this machine or of the place is full.
        case noSpace = "no-space"
        /// The place contains data that git rejects.
        case damaged
        /// Others kept publishing at the same time.
        case lostRace = "lost-race"
        /// Another process uses our copy of the place.
        case busy
        /// The place replaces existing objects.
        case notExclusive = "not-exclusive"
        /// Our copy of the place is unusable, and could not be recreated.
        case localCopy = "local-copy"
    }

    package let code: Code
    /// One or two sentences, which say what to do next.
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Translates an error of a file below the place or our copy of it.
    ///
    /// - Parameter action: Such as "read the place".
    init(_ error: SystemError, _ action: String) {
        switch error.number {
        case ENOSPC, EDQUOT:
            self.init(.noSpace, "Cannot \(action): the disk is full. Free some space and retry.")
        case EPERM, EACCES, EROFS:
            self.init(
                .refused, "Cannot \(action): \(error.reason). Check the permissions of the place.")
        default:
            self.init(
                .unreachable, "Cannot \(action): \(error.reason). Check that the place is mounted.")
        }
    }
}
