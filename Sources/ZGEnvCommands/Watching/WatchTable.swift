internal import CommandLineKit

/// A table with a selectable row whose columns fit the width: cells are cut, then last columns
/// dropped.
struct WatchTable {
    typealias Span = WatchScreen.Span

    /// The minimum width of a cut column.
    private static let narrowest = 8

    private let titles: [String]
    private var rows: [(cells: [Span], isSelected: Bool)] = []

    init(_ titles: [String]) { self.titles = titles }

    var isEmpty: Bool { rows.isEmpty }
    var count: Int { rows.count }

    mutating func append(_ cells: [Span], isSelected: Bool) { rows.append((cells, isSelected)) }

    /// Returns the heading and the rows; empty without rows.
    func lines(width: Int) -> [[Span]] {
        guard !rows.isEmpty else { return [] }
        let widths = widths(within: max(width - 2, 1))
        let heading = line(titles.map { Span($0, .heading) }, widths, mark: "  ")
        return [heading]
            + rows.map { line($0.cells, widths, mark: $0.isSelected ? "> " : "  ") }
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
            if let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
                widths[widest] > Self.narrowest
            {
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
