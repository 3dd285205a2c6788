internal import Vault

/// Holds what a command is about to give out or send against the checkpoint, before it does. Where they
/// differ it shows the difference and asks; without anybody to ask nothing leaves.
struct AcceptanceGate {
    private let workspace: Workspace
    /// Whether somebody may be asked; else a difference is a refusal.
    private let asks: Bool

    init(_ workspace: Workspace, asks: Bool = true) {
        (self.workspace, self.asks) = (workspace, asks)
    }

    /// Opens the index, chooses from it, and has what the choice depends on accepted. Where that takes a
    /// write, everything is opened and chosen again.
    ///
    /// - Throws: ``ExitCode/usage`` where somebody says no, or nobody can be asked.
    func open<Choice>(
        _ extent: VaultIndex.Extent, with keys: VaultKeys,
        _ choose: (VaultIndex) throws -> (use: CheckpointUse, choice: Choice)
    ) throws -> (vault: Vault, index: VaultIndex, choice: Choice) {
        while true {
            let vault = try workspace.session.opened()
            let index = try vault.index(with: keys, extent: extent)
            let (use, choice) = try choose(index)
            if try !require(use, in: index, with: keys) { return (vault, index, choice) }
        }
    }

    /// Has what a use depends on accepted. Does nothing while the values are locked: then no value leaves,
    /// and nobody can tell.
    ///
    /// - Parameter index: Decoded with the checkpoint, of the vault that the session has open.
    /// - Returns: Whether the vault was written, so that it is to be opened again.
    func require(
        _ use: CheckpointUse, in index: VaultIndex, with keys: VaultKeys
    ) throws -> Bool {
        guard keys.opensValues else { return false }
        try workspace.session.noteCheckpoint(of: index)
        let objects = index.objectsNotAccepted(for: use)
        if objects.isEmpty { return false }
        let whole = try workspace.session.opened().index(with: keys, extent: .everything)
        let comparison = CheckpointComparison(of: whole).limited(to: objects)
        let review = ChangesReview(comparison, in: whole, workspace)
        // What an object of the whole vault does not show is no difference of a use.
        guard !comparison.isEmpty else { return false }
        guard try asks ? review.answer("Accept these changes?") == true : false else {
            throw review.refusal
        }
        try workspace.session.update(with: keys) { try $0.accept(comparison) }
        return true
    }
}

extension VaultIndex {
    /// Where these records stand among the variables.
    func positions(of records: [Variable]) -> [Int] {
        let ids = Set(records.map(\.id))
        return variables.indices.filter { ids.contains(variables[$0].id) }
    }
}
