internal import CommandLineKit

/// Progress of long work with the platform: one line on a terminal, nothing anywhere else.
final class PlatformProgress {
    private let line: ProgressLine?

    init(_ invocation: Invocation) {
        let descriptor = invocation.context.messages.descriptor
        let isShown =
            !invocation.options.quiet && !invocation.options.json
            && TerminalDevice.isTerminal(descriptor)
        line = isShown ? ProgressLine(descriptor: descriptor) : nil
    }

    /// Shows what is going on, in place of what was.
    func show(_ text: @autoclosure () -> String) {
        line?.update(text() + " …")
    }

    /// Takes the line away.
    func finish() {
        line?.finish()
    }
}
