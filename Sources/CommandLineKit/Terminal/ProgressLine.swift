import CLinux
internal import JSON

/// One line at the end of a terminal's output that is written again and again.
///
/// The caller decides whether there is one: only on a terminal, never with `--quiet` or `--json`.
/// What cannot be written is left out: progress is no result.
package final class ProgressLine {
    private let output: OutputStream
    private var shown = ""

    /// Makes a line on a terminal's descriptor, commonly the standard error.
    package init(descriptor: Int32) {
        output = OutputStream(descriptor: descriptor)
    }

    deinit {
        finish()
    }

    /// Shows a text in place of the one before, cut to the terminal's width and made safe.
    package func update(_ text: String) {
        let columns = TerminalDevice.columns(output.descriptor) ?? 80
        // The last column stays free: a terminal that wraps there would keep the line.
        let line = DisplayText.truncated(DisplayText.safe(text), to: max(1, columns - 1))
        guard line != shown else { return }
        shown = line
        write("\r\u{1B}[K" + line)
    }

    /// Takes the line away, so that other output can follow.
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
