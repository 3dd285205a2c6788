internal import CommandLineKit

/// What long work shows while it goes on: one line on a terminal's stderr, and nothing for work that
/// is done at once.
final class WorkProgress {
    /// Work that ends sooner than this shows nothing.
    private static let patience = Duration.milliseconds(400)

    private let line: ProgressLine?
    private let start = ContinuousClock.now

    init(_ workspace: Workspace) {
        line = workspace.interaction.progressLine
    }

    /// Shows a text in place of the one before.
    func update(_ text: @autoclosure () -> String) {
        guard let line, ContinuousClock.now - start > Self.patience else { return }
        line.update(text())
    }

    /// Takes the line away, so that other output can follow.
    func finish() {
        line?.finish()
    }
}
