/// Rows in aligned columns. Cells are made safe for a terminal first.
package struct Table: Sendable {
    /// A column.
    package struct Column: Sendable {
        /// Heading; empty for none.
        package let title: String
        /// Whether cells stand at its right edge, as numbers do.
        package let isTrailing: Bool
        /// Whether it may be cut when the table is wider than the terminal.
        package let canShrink: Bool

        /// Describes a column.
        package init(_ title: String, trailing: Bool = false, canShrink: Bool = false) {
            self.title = title
            self.isTrailing = trailing
            self.canShrink = canShrink
        }
    }

    /// A text and what it is.
    package struct Cell: Sendable, ExpressibleByStringLiteral {
        let text: String
        let role: Style.Role
        /// Columns that the text takes: measured once, since a long table asks for it often.
        let width: Int

        /// Makes a cell of any text.
        package init(_ text: String, as role: Style.Role = .plain) {
            self.role = role
            // Nearly all are, and one look at the bytes tells both.
            if DisplayText.isPlain(text) {
                self.text = text
                width = text.utf8.count
            } else {
                self.text = DisplayText.safe(text)
                width = DisplayText.width(self.text)
            }
        }

        /// Makes a plain cell.
        package init(stringLiteral value: String) {
            self.init(value)
        }
    }

    /// Narrowest a column gets by shrinking.
    static let minimumWidth = 8
    /// Blanks between columns.
    static let gap = 2

    /// The columns.
    package let columns: [Column]
    /// The rows; missing cells are empty, surplus ones are dropped.
    package private(set) var rows: [[Cell]] = []

    /// Makes a table without rows.
    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row.
    package mutating func append(_ row: [Cell]) {
        rows.append(row)
    }

    /// The table, each line ended by a line feed; empty without rows.
    ///
    /// - Parameter width: Columns of the terminal; nil for a table that is never cut.
    package func text(width: Int? = nil, style: Style = .plain) -> String {
        guard !rows.isEmpty, !columns.isEmpty else { return "" }
        var lines = rows
        if columns.contains(where: { !$0.title.isEmpty }) {
            lines.insert(columns.map { Cell($0.title, as: .heading) }, at: 0)
        }
        let widths = widths(of: lines, within: width)
        // As bytes: putting long tables together character by character takes twice as long.
        var text: [UInt8] = []
        text.reserveCapacity(lines.count * (widths.reduce(0, +) + columns.count * Self.gap))
        for line in lines { append(line, widths, style, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    private func append(
        _ cells: [Cell], _ widths: [Int], _ style: Style, to line: inout [UInt8]
    ) {
        var pending = 0
        for index in columns.indices where index < cells.count {
            let cell = cells[index]
            let fits = cell.width <= widths[index]
            let text = fits ? cell.text : DisplayText.truncated(cell.text, to: widths[index])
            let blanks = widths[index] - (fits ? cell.width : DisplayText.width(text))
            if index > 0 { pending += Self.gap }
            if columns[index].isTrailing { pending += blanks }
            if !text.isEmpty {
                // Blanks are written with the next text, so that none end a line.
                line.append(contentsOf: repeatElement(UInt8(ascii: " "), count: pending))
                line.append(contentsOf: style.text(text, as: cell.role).utf8)
                pending = 0
            }
            if !columns[index].isTrailing { pending += blanks }
        }
        line.append(UInt8(ascii: "\n"))
    }

    private func widths(of lines: [[Cell]], within limit: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            lines.reduce(0) { max($0, index < $1.count ? $1[index].width : 0) }
        }
        guard let limit else { return widths }
        var surplus = widths.reduce(Self.gap * (columns.count - 1), +) - limit
        while surplus > 0 {
            let shrinkable = columns.indices.filter {
                columns[$0].canShrink && widths[$0] > Self.minimumWidth
            }
            guard let widest = shrinkable.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            surplus -= 1
        }
        return widths
    }
}
