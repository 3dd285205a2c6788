internal import CommandLineKit

/// The progress line of long work on a terminal's stderr; short work shows nothing.
final class WorkProgress {
    /// Shorter work shows no progress.
    private static let patience = Duration.milliseconds(400)

    private let line: ProgressLine?
    private let start = ContinuousClock.now

    init(_ workspace: Workspace) {
        line = workspace.interaction.progressLine
    }

    /// Replaces the line.
    func update(_ text: @autoclosure () -> String) {
        guard let line, ContinuousClock.now - start > Self.patience else { return }
        line.update(text())
    }

    /// Clears the line, so that other output can follow.
    func finish() {
        line?.finish()
    }
}
