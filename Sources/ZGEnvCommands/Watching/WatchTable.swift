internal import CommandLineKit

/// Rows of which one may be selected, in columns that fit: the last ones are cut, or left out.
struct WatchTable {
    typealias Span = WatchScreen.Span

    /// Narrowest that a column gets by cutting.
    private static let narrowest = 8

    private let titles: [String]
    private var rows: [(cells: [Span], isSelected: Bool)] = []

    init(_ titles: [String]) { self.titles = titles }

    var isEmpty: Bool { rows.isEmpty }
    var count: Int { rows.count }

    mutating func append(_ cells: [Span], isSelected: Bool) { rows.append((cells, isSelected)) }

    /// A heading and the rows; nothing without rows.
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
            // The longest is cut first, and the last column goes when nothing more can be cut.
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
