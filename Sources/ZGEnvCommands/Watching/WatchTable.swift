internal import CommandLineKit

/// A table with a selectable row whose columns fit the width: cells are cut, then last columns
/// dropped.
struct WatchTable {
    typealias Span = WatchScreen.Span

    /// The minimum width of a cut column; of the first one, which has the names, it is larger.
    private static let (narrowest, narrowestName) = (11, 14)

    private let titles: [String]
    private var rows: [(cells: [Span], isSelected: Bool)] = []

    init(_ titles: [String]) { self.titles = titles }

    var isEmpty: Bool { rows.isEmpty }

    mutating func append(_ cells: [Span], isSelected: Bool) { rows.append((cells, isSelected)) }

    /// Returns the heading and the rows; empty without rows.
    func lines(width: Int) -> [[Span]] {
        guard !rows.isEmpty else { return [] }
        let widths = widths(within: max(width - 2, 1))
        let heading = line(titles.map { Span($0, .heading) }, widths, mark: "  ")
        return [heading]
            + rows.map { row in
                row.isSelected
                    ? Self.selected(line(row.cells, widths, mark: "> "), width: width)
                    : line(row.cells, widths, mark: "  ")
            }
    }

    /// Returns a line as one bar across the screen.
    private static func selected(_ line: [Span], width: Int) -> [Span] {
        let text = line.map(\.text).joined()
        let blanks = max(width - DisplayText.width(text), 0)
        return [Span(text + String(repeating: " ", count: blanks), .selected)]
    }

    private func line(_ cells: [Span], _ widths: [Int], mark: String) -> [Span] {
        var line = [Span(mark, .heading)]
        for (place, width) in widths.enumerated() {
            let cell = cells[place]
            let cut = DisplayText.truncated(cell.text, to: width)
            line.append(Span(cut, cell.role))
            guard place + 1 < widths.count else { break }
            let blanks = width - DisplayText.width(cut) + 2
            line.append(Span(String(repeating: " ", count: max(blanks, 0))))
        }
        return line
    }

    private func widths(within limit: Int) -> [Int] {
        var widths = titles.enumerated().map { place, title in
            rows.reduce(title.count) { max($0, DisplayText.width($1.cells[place].text)) }
        }
        while widths.reduce(2 * (widths.count - 1), +) > limit {
            // Cuts the widest column first, and drops the last one if nothing more can be cut.
            let spare = widths.enumerated().map { place, width in
                width - (place == 0 ? Self.narrowestName : Self.narrowest)
            }
            if let widest = spare.indices.max(by: { spare[$0] < spare[$1] }), spare[widest] > 0 {
                widths[widest] -= 1
            } else if widths.count > 1 {
                widths.removeLast()
            } else {
                return [max(limit, 1)]
            }
        }
        return widths
    }
}
