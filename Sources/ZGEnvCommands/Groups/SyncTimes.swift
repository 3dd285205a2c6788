internal import Groups
internal import Vault

/// When this vault file was last synced with each group: a line with group and time in the state
/// directory. Not in the vault, which a sync without news does not write.
struct SyncTimes {
    private let path: String?

    init(_ workspace: Workspace) throws {
        let vault = try workspace.session.opened().header.vaultID
        let anchor = RollbackGuards(workspace.context, path: workspace.session.path).file(of: vault)
        path = anchor.map { $0.dropLast(".anchor".count) + ".synced" }
    }

    /// Milliseconds since 1970; nil if this machine has not synced with the group.
    subscript(_ group: GroupHash) -> UInt64? { all[group.hexadecimal] }

    /// Keeps a time. A file that cannot be written only makes the last sync unknown.
    func keep(_ time: UInt64, for group: GroupHash) {
        guard let path else { return }
        var times = all
        times[group.hexadecimal] = time
        let text = times.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
        try? PrivateFile.write(Array(text.utf8), to: path, replaces: true, durably: false)
    }

    private var all: [String: UInt64] {
        guard let path, let text = SmallFile.text(path) else { return [:] }
        var found: [String: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let time = UInt64(words[1]) else { continue }
            found[String(words[0])] = time
        }
        return found
    }
}
