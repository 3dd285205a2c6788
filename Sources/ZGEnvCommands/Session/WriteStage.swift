internal import Vault

/// A feature that takes part in every write of variables, without the commands that write them.
///
/// The stages are registered once, in ``WriteStages``, and called in that order.
protocol WriteStage {
    /// Called under the lock, after the change was made and before the file is replaced. Refuses
    /// the write by throwing, or adds to it.
    ///
    /// - Parameter news: What the change reports.
    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter) throws

    /// Called when the write has ended, without the lock.
    ///
    /// - Parameter error: Why nothing was written; nil if the change is in the vault.
    func ended(_ error: (any Error)?, _ news: News, by writer: VaultWriter)
}

extension WriteStage {
    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter
    ) throws {}
    func ended(_ error: (any Error)?, _ news: News, by writer: VaultWriter) {}
}

/// Who writes, for stages.
struct VaultWriter {
    let session: VaultSession
    let vault: Identifier
    let keys: VaultKeys

    var context: Context { session.context }
}
