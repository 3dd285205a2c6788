/// A list on the screen from which a person picks an entry by typing parts of it.
package struct ListPicker: Sendable {
    package struct Entry: Sendable {
        package let word: String
        /// What is shown beside the word; the typed text matches it too.
        package let note: String

        package init(_ word: String, note: String = "") {
            (self.word, self.note) = (word, note)
        }
    }

    package enum Answer: Equatable, Sendable {
        /// An entry, counted from 0.
        case picked(Int)
        case canceled
    }

    private let title: String
    private let entries: [Entry]
    private var typed = ""
    /// Counted among the entries that match.
    private var selection = 0

    /// - Parameter title: What is picked, such as "Variable".
    package init(_ title: String, _ entries: [Entry]) {
        (self.title, self.entries) = (title, entries)
    }

    /// Shows the list until an entry is picked. A signal cancels it and stays recorded.
    package mutating func run() throws(TerminalError) -> Answer {
        let screen = try ScreenTerminal()
        defer { screen.leave() }
        try screen.enter()
        var size = screen.size
        while Interrupts.pending == nil {
            if screen.size != size {
                size = screen.size
                try screen.forget()
            }
            try screen.paint(lines(size))
            let news = screen.wait(milliseconds: 1_000)
            if news.isGone { throw .endOfInput }
            if news.wantsStop { try screen.stop() }
            for key in news.keys {
                if let answer = take(key, rows: size.rows) { return answer }
            }
        }
        return .canceled
    }

    /// Changes the list by a key. Returns the answer that ends it.
    mutating func take(_ key: TerminalKey, rows: Int) -> Answer? {
        let matches = matches
        func move(_ count: Int) { selection = max(0, min(selection + count, matches.count - 1)) }
        switch key {
        case .escape: return .canceled
        case .enter, .tab: return matches.isEmpty ? nil : .picked(matches[selection])
        case .up: move(-1)
        case .down: move(1)
        case .pageUp: move(-Self.room(rows))
        case .pageDown: move(Self.room(rows))
        case .home: selection = 0
        case .end: move(matches.count)
        case .backspace, .deleteLine, .deleteWord:
            typed.delete(by: key)
            selection = 0
        case .character(let character):
            typed.append(character)
            selection = 0
        case .left, .right: break
        }
        return nil
    }

    /// The entries that contain each typed word, whatever its case.
    private var matches: [Int] {
        let parts = typed.lowercased().split(separator: " ")
        return entries.indices.filter { index in
            let text = "\(entries[index].word) \(entries[index].note)".lowercased()
            return parts.allSatisfy { text.contains($0) }
        }
    }

    /// The rows between the first and the last line.
    private static func room(_ rows: Int) -> Int { max(rows - 2, 1) }

    /// Returns the lines of the screen.
    func lines(_ size: ScreenTerminal.Size) -> [String] {
        let (matches, room) = (matches, Self.room(size.rows))
        let first = min(max(selection - room + 1, 0), max(matches.count - room, 0))
        let shown = matches.dropFirst(first).prefix(room)
        let width = shown.map { DisplayText.width(DisplayText.safe(entries[$0].word)) }.max() ?? 0
        let rows = shown.enumerated().map { row, index in
            let word = DisplayText.safe(entries[index].word)
            let padding = String(repeating: " ", count: width - DisplayText.width(word))
            let note = DisplayText.safe(entries[index].note)
            let mark = first + row == selection ? "> " : "  "
            return note.isEmpty ? mark + word : "\(mark)\(word)\(padding)  \(note)"
        }
        let foot =
            matches.isEmpty
            ? "0 of \(entries.count). Nothing matches: Ctrl-U clears the search, Esc cancels."
            : "\(matches.count) of \(entries.count). Type to search; Enter picks, Esc cancels."
        let lines = ["\(title): \(DisplayText.safe(typed))_"] + rows + [foot]
        return lines.prefix(size.rows).map { DisplayText.truncated($0, to: size.columns) }
    }
}
