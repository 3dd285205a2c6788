/// Why a sandbox does not start or does not do what it is told.
package struct SandboxError: Error, Equatable, Sendable {
    /// What went wrong.
    package enum Code: Sendable {
        case portUnavailable, seedUnreadable, stateUnreadable, stateUnwritable, actImpossible
        case settingsInvalid
    }

    /// What went wrong.
    package let code: Code
    /// A sentence without values.
    package let reason: String
}
