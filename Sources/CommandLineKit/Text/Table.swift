/// A table with aligned columns and sanitized cells.
package struct Table: Sendable {
    package struct Column: Sendable {
        /// The heading; empty for none.
        package let title: String
        /// Whether cells are right-aligned, as numbers are.
        package let isTrailing: Bool
        /// Whether the column may be cut when the table is wider than the terminal.
        package let canShrink: Bool

        package init(_ title: String, trailing: Bool = false, canShrink: Bool = false) {
            self.title = title
            self.isTrailing = trailing
            self.canShrink = canShrink
        }
    }

    package struct Cell: Sendable, ExpressibleByStringLiteral {
        let text: String
        let role: Style.Role
        /// The width in columns, computed once for long tables.
        let width: Int

        /// Creates a cell with any text, which is sanitized.
        package init(_ text: String, as role: Style.Role = .plain) {
            self.role = role
            // The usual case, checked in one pass.
            if DisplayText.isPlain(text) {
                self.text = text
                width = text.utf8.count
            } else {
                self.text = DisplayText.safe(text)
                width = DisplayText.width(self.text)
            }
        }

        package init(stringLiteral value: String) {
            self.init(value)
        }
    }

    /// The minimum width of a shrunk column.
    static let minimumWidth = 8
    /// Blanks between columns.
    package static let gap = 2

    package let columns: [Column]
    /// The rows; missing cells are empty, surplus ones are dropped.
    package private(set) var rows: [[Cell]] = []

    package init(_ columns: [Column]) {
        self.columns = columns
    }

    package mutating func append(_ row: [Cell]) {
        rows.append(row)
    }

    /// Returns the table, with a line feed after each line; an empty string without rows.
    ///
    /// - Parameter width: The columns of the terminal; nil to cut nothing.
    package func text(width: Int? = nil, style: Style = .plain) -> String {
        guard !rows.isEmpty, !columns.isEmpty else { return "" }
        if let width, let fitting = fitting(width) {
            return fitting.text(width: width, style: style)
        }
        var lines = rows
        if columns.contains(where: { !$0.title.isEmpty }) {
            lines.insert(columns.map { Cell($0.title, as: .heading) }, at: 0)
        }
        let widths = widths(of: lines, within: width)
        // Bytes: appending characters takes twice as long for long tables.
        var text: [UInt8] = []
        text.reserveCapacity(lines.count * (widths.reduce(0, +) + columns.count * Self.gap))
        for line in lines { append(line, widths, style, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the table without columns that are empty or, if that is not enough, without the last ones
    /// that may be cut; nil if it fits, or if that does not help.
    private func fitting(_ limit: Int) -> Table? {
        let widths = columns.indices.map { index in
            rows.reduce(DisplayText.width(columns[index].title)) {
                max($0, index < $1.count ? $1[index].width : 0)
            }
        }
        func total(_ widths: [Int]) -> Int { widths.reduce(Self.gap * (columns.count - 1), +) }
        guard total(widths) > limit else { return nil }
        let empty = columns.indices.filter { index in
            rows.allSatisfy { index >= $0.count || $0[index].width == 0 }
        }
        if !empty.isEmpty, empty.count < columns.count { return without(Set(empty)) }
        let least = columns.indices.map {
            columns[$0].canShrink ? min(widths[$0], Self.minimumWidth) : widths[$0]
        }
        var (left, rest): (Set<Int>, Int) = ([], total(least))
        for column in columns.indices.dropFirst().reversed()
        where rest > limit && columns[column].canShrink {
            left.insert(column)
            rest -= least[column] + Self.gap
        }
        return left.isEmpty || rest > limit ? nil : without(left)
    }

    private func without(_ left: Set<Int>) -> Table {
        func kept<Element>(_ list: [Element]) -> [Element] {
            list.indices.filter { !left.contains($0) }.map { list[$0] }
        }
        var table = Table(kept(columns))
        table.rows = rows.map(kept)
        return table
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
                // Blanks are written before the next text, so that no line ends with blanks.
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
