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

        /// Makes a cell of any text.
        package init(_ text: String, as role: Style.Role = .plain) {
            self.text = DisplayText.safe(text)
            self.role = role
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
        return lines.reduce(into: "") { $0 += line($1, widths, style) + "\n" }
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ style: Style) -> String {
        var line = ""
        var pending = 0
        for (index, column) in columns.enumerated() {
            let cell = index < cells.count ? cells[index] : ""
            let text = DisplayText.truncated(cell.text, to: widths[index])
            let blanks = widths[index] - DisplayText.width(text)
            if index > 0 { pending += Self.gap }
            if column.isTrailing { pending += blanks }
            if !text.isEmpty {
                // Blanks are written with the next text, so that none end a line.
                line += String(repeating: " ", count: pending)
                line += style.text(text, as: cell.role)
                pending = 0
            }
            if !column.isTrailing { pending += blanks }
        }
        return line
    }

    private func widths(of lines: [[Cell]], within limit: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            lines.map { index < $0.count ? DisplayText.width($0[index].text) : 0 }.max() ?? 0
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
