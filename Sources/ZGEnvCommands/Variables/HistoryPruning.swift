internal import EnvOperations
internal import Vault

/// Removes old versions of changed variables as the setting `history-keep` allows.
struct HistoryPruning: WriteStage {
    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter
    ) throws {
        let (context, time) = (writer.context, writer.context.now())
        guard transaction.mayPrune(at: time) else { return }
        do {
            guard let keep = try Settings(context).number(.historyKeep) else { return }
            transaction.pruneHistory(keeping: keep, at: time)
        } catch {
            // The change itself does not depend on the settings.
            context.warn(
                "history-not-pruned",
                "No old versions were removed, because the settings cannot be read. "
                    + CommandError(mapping: error).message)
        }
    }
}
