internal import Vault

/// What was changed while the values were locked, and whether the user says that it was their doing.
struct ChangesReview {
    /// The changes for people and scripts.
    let text: ChangesText
    /// The changes.
    let comparison: CheckpointComparison
    private let workspace: Workspace

    /// - Parameter index: The whole index that was compared.
    init(_ comparison: CheckpointComparison, in index: VaultIndex, _ workspace: Workspace) {
        self.comparison = comparison
        text = ChangesText(comparison, in: index)
        self.workspace = workspace
    }

    /// Shows the changes and asks where somebody can be asked.
    ///
    /// - Returns: nil where nobody can; then nothing was shown.
    func answer(_ question: String) throws -> Bool? {
        let lines = text.summary(now: workspace.context.now())
        if workspace.options.acceptsChanges {
            workspace.note("\(text.sentence):")
            for line in lines { workspace.note("  \(line)") }
            return true
        }
        if workspace.options.dryRun { return nil }
        guard workspace.interaction.canConfirm else { return nil }
        return try workspace.interaction.confirm("\(text.sentence):", lines, question)
    }

    /// Why nothing was given out.
    var refusal: CommandError {
        let lines = text.summary(now: workspace.context.now())
        let shown = lines.prefix(3).joined(separator: "; ")
        let more = lines.count > 3 ? "; and more (zg-env status)" : ""
        return CommandError(
            .usage,
            "\(text.sentence), and nobody has accepted \(text.count == 1 ? "that" : "them"): \(shown)\(more).",
            hint: "Nothing was given out. If they are yours: zg-env unlock --accept-changes")
    }
}
