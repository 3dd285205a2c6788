internal import Vault

/// Asks the user to accept changes made while the values were locked.
struct ChangesReview {
    let text: ChangesText
    let comparison: CheckpointComparison
    private let workspace: Workspace

    /// - Parameter index: The complete index that was compared.
    init(_ comparison: CheckpointComparison, in index: VaultIndex, _ workspace: Workspace) {
        self.comparison = comparison
        text = ChangesText(comparison, in: index)
        self.workspace = workspace
    }

    /// Shows the changes and asks.
    ///
    /// - Returns: nil if nobody can be asked; then nothing was shown.
    func answer(_ question: String) throws -> Bool? {
        if workspace.options.acceptsChanges {
            show()
            return true
        }
        guard !workspace.options.dryRun, workspace.interaction.canConfirm else { return nil }
        return try workspace.interaction.confirm(
            "\(text.sentence):", text.summary(now: workspace.context.now()), question)
    }

    /// Shows the changes without asking.
    func show() {
        workspace.note("\(text.sentence):")
        for line in text.summary(now: workspace.context.now()) { workspace.note("  \(line)") }
    }

    /// The error for changes that are not accepted.
    var refusal: CommandError {
        let lines = text.summary(now: workspace.context.now())
        let shown = lines.prefix(3).joined(separator: "; ")
        let more = lines.count > 3 ? "; and more (zg-env status)" : ""
        return CommandError(
            .usage,
            "\(text.sentence) and \(text.count == 1 ? "is" : "are") not confirmed: \(shown)\(more).",
            hint:
                "No value was revealed. If you made these changes, run: zg-env unlock --accept-changes"
        )
    }
}
