internal import CommandLineKit

/// How text on stdout looks: colour and a width on a terminal, plain and whole elsewhere.
struct OutputLook {
    /// Colours, or none.
    let style: Style
    /// Columns of the terminal; nil where lines may be of any length.
    let width: Int?

    init(_ context: Context) {
        let descriptor = context.output.descriptor
        let isTerminal = TerminalDevice.isTerminal(descriptor)
        style = Style(
            usesColor: isTerminal && context.variable("NO_COLOR") == nil
                && context.variable("TERM") != "dumb")
        width = isTerminal ? TerminalDevice.columns(descriptor) : nil
    }
}
