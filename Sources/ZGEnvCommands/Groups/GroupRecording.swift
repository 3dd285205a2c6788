internal import SharedProjects
internal import Vault

extension GroupNews: NewsPart {}

/// What a sync brings from colleagues, reported by its write.
struct SyncedChanges: NewsPart {
    mutating func add(_ other: SyncedChanges) {}
}

/// Records what a write changed in shared projects, and what it reports, for their groups.
struct GroupRecording: WriteStage {
    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter
    ) throws {
        let memory = ChainFile(
            writer.context, vault: writer.vault, path: writer.session.path)
        let count = try ChangeRecorder(
            vault: writer.vault, keys: writer.keys, now: writer.context.now(), memory: memory,
            news: news[GroupNews.self] ?? GroupNews()
        ).record(in: &transaction)
        if count > 0 || writer.session.told[WaitingChanges.self] != nil {
            news.add(
                WaitingChanges(
                    count: transaction.index.groupEntries(.outgoingChange).count))
        }
    }
}
