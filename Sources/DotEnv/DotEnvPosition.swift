/// A place in a text as editors count it.
package struct DotEnvPosition: Equatable, Hashable, Sendable, Comparable {
    /// From 1. LF, CR and CR LF end a line.
    package let line: Int
    /// In Unicode scalars, from 1. A byte order mark has no column.
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: DotEnvPosition, right: DotEnvPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// Converts offsets to positions; linear over all calls as long as the offsets ascend.
struct PositionCursor {
    private let text: SourceText
    private let hasCarriageReturn: Bool
    private var offset = 0
    private var line = 1
    private var column = 1

    /// - Parameter hasCarriageReturn: False makes a text without any CR faster.
    init(_ text: SourceText, hasCarriageReturn: Bool = true) {
        self.text = text
        self.hasCarriageReturn = hasCarriageReturn
        rewind()
    }

    private mutating func rewind() {
        offset = text.has("\u{FEFF}", at: 0) ? 3 : 0
        line = 1
        column = 1
    }

    mutating func position(of target: Int) -> DotEnvPosition {
        if target < offset { rewind() }
        let end = min(target, text.count)
        if !hasCarriageReturn { skipLines(to: end) }
        while offset < end {
            let byte = text[offset]
            let endsLine =
                byte == Byte.lineFeed
                || (byte == Byte.carriageReturn && text[offset + 1] != Byte.lineFeed)
            if endsLine {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            offset += 1
        }
        return DotEnvPosition(line: line, column: column)
    }

    /// Moves to the start of the line that contains `end`.
    private mutating func skipLines(to end: Int) {
        while true {
            let newline = text.firstIndex(of: Byte.lineFeed, from: offset, to: end)
            guard newline < end else { return }
            line += 1
            column = 1
            offset = newline + 1
        }
    }
}
