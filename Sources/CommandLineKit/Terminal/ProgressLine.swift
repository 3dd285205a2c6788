import CLinux
internal import JSON

/// A progress line at the end of a terminal's output.
///
/// The caller decides whether to use one: only on a terminal, never with `--quiet` or `--json`.
/// Write errors are ignored, since progress is not a result.
package final class ProgressLine {
    private let output: OutputStream
    private var shown = ""

    /// - Parameter descriptor: A terminal, usually the standard error.
    package init(descriptor: Int32) {
        output = OutputStream(descriptor: descriptor)
    }

    deinit {
        finish()
    }

    /// Replaces the shown text. It is sanitized and cut to the terminal's width.
    package func update(_ text: String) {
        let columns = TerminalDevice.columns(output.descriptor) ?? 80
        // The last column stays empty: a terminal that wraps there would keep the line.
        let line = DisplayText.truncated(DisplayText.safe(text), to: max(1, columns - 1))
        guard line != shown else { return }
        shown = line
        write("\r\u{1B}[K" + line)
    }

    /// Erases the line, so that other output can follow.
    package func finish() {
        guard !shown.isEmpty else { return }
        shown = ""
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        do throws(OutputError) {
            try output.write(text)
            try output.flush()
        } catch {
            output.discard()
        }
    }
}
