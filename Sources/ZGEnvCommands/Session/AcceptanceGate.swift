internal import SharedProjects
internal import Vault

/// Compares what a command is about to reveal or send with the checkpoint. Shows differences and
/// asks; if nobody can be asked, nothing leaves.
struct AcceptanceGate {
    private let workspace: Workspace
    /// Whether to ask; if not, a difference is an error.
    private let asks: Bool

    init(_ workspace: Workspace, asks: Bool = true) {
        (self.workspace, self.asks) = (workspace, asks)
    }

    /// Opens the index, chooses from it, and requires acceptance of everything the choice depends on.
    /// If that writes the vault, the index is opened and the choice made again.
    ///
    /// - Throws: ``ExitCode/usage`` if the answer is no or nobody can be asked.
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

    /// Requires acceptance of everything a use depends on. Does nothing while the values are locked:
    /// then no value leaves, and the checkpoint cannot be checked.
    ///
    /// - Parameter index: Decoded with the checkpoint, from the vault that the session has open.
    /// - Returns: Whether the vault was written and must be opened again.
    func require(
        _ use: CheckpointUse, in index: VaultIndex, with keys: VaultKeys
    ) throws -> Bool {
        if let sent = use.sentRecords {
            try ContestGate.check(sent, in: index, workspace.context)
            try RotationNoticeGate.check(sent, in: index)
            try HeldGate.check(sent, in: index, .ofSending, workspace.context)
        }
        guard keys.opensValues else { return false }
        try workspace.session.recordCheckpoint(of: index)
        let objects = index.objectsNotAccepted(for: use)
        if objects.isEmpty { return false }
        let whole = try workspace.session.opened().index(with: keys, extent: .everything)
        let comparison = CheckpointComparison(of: whole).limited(to: objects)
        let review = ChangesReview(comparison, in: whole, workspace)
        // An object without a visible change makes no difference to a use.
        guard !comparison.isEmpty else { return false }
        // To accept them is to write the vault, which a dry run does not.
        guard
            try asks && !workspace.options.dryRun
                ? review.answer("Accept these changes?") == true : false
        else {
            throw review.refusal
        }
        try workspace.session.update { try $0.accept(comparison) }
        return true
    }
}

extension CheckpointUse {
    /// The records whose values are about to be sent.
    fileprivate var sentRecords: Set<Identifier>? {
        switch self {
        case .sending(_, let records, _), .sendingTo(_, let records): records
        case .values, .versions, .accepting, .token, .relay: nil
        }
    }
}

extension VaultIndex {
    /// Returns the indices of these records in `variables`.
    func positions(of records: [Variable]) -> [Int] {
        let ids = Set(records.map(\.id))
        return variables.indices.filter { ids.contains(variables[$0].id) }
    }
}
