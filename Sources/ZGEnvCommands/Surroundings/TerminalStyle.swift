internal import CommandLineKit

/// The style of text on stdout: colors and a width on a terminal, plain and unlimited elsewhere.
struct TerminalStyle {
    let style: Style
    /// The columns of the terminal; nil for no limit.
    let width: Int?

    init(_ context: Context) {
        let descriptor = context.output.descriptor
        let isTerminal = TerminalDevice.isTerminal(descriptor)
        style = Style(
            usesColor: isTerminal && context.variable("NO_COLOR") == nil
                && context.variable("TERM") != "dumb")
        width = isTerminal ? TerminalDevice.columns(descriptor) : nil
    }

    func text(_ table: Table) -> String { table.text(width: width, style: style) }
}
