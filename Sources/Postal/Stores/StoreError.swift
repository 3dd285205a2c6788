/// What a store could not do. Nothing of a device, an account or an event is in it.
package struct StoreError: Error, Equatable {
    /// What went wrong, for programs.
    package enum Code: Sendable {
        /// It cannot be read or written now: no room, a broken disk, nobody there. Trying later is right.
        case unavailable
        /// Another relay has it for itself.
        case inUse
        /// What is there is none of ours, or is broken.
        case damaged
        /// There is none at that place.
        case missing
        /// Others than its owner can read it.
        case insecure
        /// It was written by a newer program.
        case newerFormat
    }

    /// What went wrong, for programs.
    package let code: Code
    /// One sentence.
    package let reason: String

    /// Makes an error.
    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
