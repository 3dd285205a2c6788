/// The exit codes of the contract, one for every cause a script can act on (docs/exit-codes.md).
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

    /// What opening the vault may end in, for the descriptions of commands.
    static let ofOpening = numbers(.locked, .notFound, .damaged)

    /// The same, after what else a command may end in.
    static func ofOpening(and others: ExitCode...) -> [Int32] { others.map(\.rawValue) + ofOpening }

    /// Numbers of codes, as descriptions of commands take them.
    static func numbers(_ codes: ExitCode...) -> [Int32] { codes.map(\.rawValue) }

    /// What asking the platform about something of a vault may end in, for the descriptions of commands.
    static let ofPlatform = ofOpening(and: .conflict, .unauthorized, .unavailable)

    /// The word that `error.code` holds with `--json`; nil for success.
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

    /// What the code says, without full stop.
    package var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed for a reason not listed, or some of a batch failed"
        case .usage: "wrong arguments, unreadable input, ambiguous name, or confirmation needed"
        case .locked: "wrong passphrase, or nothing to unlock with"
        case .notFound: "no such variable, project, deployment, version or vault"
        case .conflict: "exists already, or changed behind our back"
        case .unauthorized: "token missing, refused, expired or not for this origin"
        case .unavailable: "the platform cannot be reached or keeps failing"
        case .damaged: "the vault is damaged, tampered with, or an older copy"
        case .deploymentFailed: "the deployment failed, or is built but not live"
        case .rolledBack: "a rotation failed and the old value is back"
        case .needsAttention: "a rotation failed and could not be undone"
        }
    }
}
