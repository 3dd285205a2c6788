/// The exit codes, one for every cause a script can act on (docs/exit-codes.md).
package enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case locked = 3
    case notFound = 4
    case conflict = 5
    case unauthorized = 6
    case unavailable = 7
    case damaged = 8
    case deploymentFailed = 9
    case rolledBack = 10
    case needsAttention = 11

    /// The codes of commands that open the vault.
    static let ofOpening = numbers(.locked, .notFound, .damaged)

    /// Returns `others` and the codes of commands that open the vault.
    static func ofOpening(and others: ExitCode...) -> [Int32] { others.map(\.rawValue) + ofOpening }

    static func numbers(_ codes: ExitCode...) -> [Int32] { codes.map(\.rawValue) }

    /// The codes of commands that open the vault and call Vercel.
    static let ofVercel = ofOpening(and: .conflict, .unauthorized, .unavailable)

    /// The word in `error.code` with `--json`; nil for success.
    package var name: String? {
        switch self {
        case .done: nil
        case .failed: "failed"
        case .usage: "usage"
        case .locked: "locked"
        case .notFound: "not_found"
        case .conflict: "conflict"
        case .unauthorized: "unauthorized"
        case .unavailable: "unavailable"
        case .damaged: "damaged"
        case .deploymentFailed: "deployment_failed"
        case .rolledBack: "rolled_back"
        case .needsAttention: "needs_attention"
        }
    }

    /// The meaning without full stop.
    package var meaning: String {
        switch self {
        case .done: "success"
        case .failed: "any other failure, or partial success"
        case .usage: "invalid arguments, unreadable input, ambiguous name, or confirmation required"
        case .locked: "wrong passphrase, or no passphrase to unlock with"
        case .notFound: "no such variable, project, deployment, version or vault"
        case .conflict: "already exists, or was changed by someone else"
        case .unauthorized: "token missing, rejected, expired or not valid for this origin"
        case .unavailable: "Vercel cannot be reached or keeps failing"
        case .damaged: "the vault is damaged, was tampered with, or is an older copy"
        case .deploymentFailed: "the deployment failed, or is built but not live"
        case .rolledBack: "a rotation failed and was reverted"
        case .needsAttention: "a rotation failed and could not be reverted"
        }
    }
}
