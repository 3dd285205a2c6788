package import JSON

extension OutputStream {
    /// Writes a sanitized sentence, wrapped to the width of a terminal.
    ///
    /// - Parameters:
    ///   - label: A word before the sentence, such as `hint:`.
    ///   - indent: The number of blanks before each line.
    ///   - paint: Colors the label. It must not change the label's width.
    package func write(
        sentence: String, label: String = "", indent: Int = 0,
        paint: (String) -> String = { $0 }
    ) throws(OutputError) {
        let text = (label.isEmpty ? "" : label + " ") + DisplayText.safe(sentence: sentence)
        let margin = String(repeating: " ", count: indent)
        var lines = [text]
        if let columns = TerminalDevice.columns(descriptor), text.first != " ",
            indent + DisplayText.width(text) > columns
        {
            lines = DisplayText.wrapped(text, to: max(20, columns - indent))
        }
        for (index, line) in lines.enumerated() {
            let labelled =
                index == 0 && line.hasPrefix(label)
                ? paint(label) + line.dropFirst(label.count) : line
            try write(margin + labelled + "\n")
        }
    }
}
