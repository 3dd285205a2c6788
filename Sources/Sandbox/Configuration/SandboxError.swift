/// Why a sandbox cannot start or carry out a call.
package struct SandboxError: Error, Equatable, Sendable {
    package enum Code: Sendable {
        case portUnavailable, seedUnreadable, stateUnreadable, stateUnwritable, actImpossible
        case settingsInvalid
    }

    package let code: Code
    /// A sentence without values.
    package let reason: String
}
