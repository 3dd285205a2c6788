internal import SharedProjects
internal import Vault

/// What stops values from being sent: a contested variable, a rotation by a colleague, a change of a
/// colleague that was not accepted.
enum SendingGate {
    /// - Parameters:
    ///   - records: The records whose values are about to be sent.
    ///   - index: The whole index.
    static func check(
        _ records: Set<Identifier>, in index: VaultIndex, _ context: Context
    ) throws {
        try ContestGate.check(records, in: index, context)
        try RotationNoticeGate.check(records, in: index)
        try HeldGate.check(records, in: index, .ofSending, context)
    }
}
