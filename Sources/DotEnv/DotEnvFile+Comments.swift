extension DotEnvFile {
    /// Returns the comment lines directly above an assignment, without `#` and one space, joined by
    /// LF; nil if there are none.
    ///
    /// - Parameters:
    ///   - index: The index in ``entries``.
    ///   - source: The bytes the file was read from.
    package func comment(above index: Int, in source: RawSpan) -> String? {
        guard entries.indices.contains(index) else { return nil }
        let entry = entries[index]
        // A line of the value above is never a comment.
        let floor = index > 0 ? entries[index - 1].extent.upperBound : 0
        return source.withText { text in
            var lines: [String] = []
            var end = entry.extent.lowerBound
            while let line = Self.line(before: end, in: text, notBelow: floor) {
                let first = text.skippingSpaces(from: line.lowerBound, to: line.upperBound)
                guard first < line.upperBound, text[first] == Byte.hash else { break }
                var start = first + 1
                if text[start] == Byte.space, start < line.upperBound { start += 1 }
                let stop = text.trimmingSpaces(from: start, to: line.upperBound)
                lines.append(text.name(start..<stop))
                end = line.lowerBound
            }
            return lines.isEmpty ? nil : lines.reversed().joined(separator: "\n")
        }
    }

    /// Returns the line before the one that contains `index`, if all of it is at or after `floor`.
    private static func line(
        before index: Int, in text: SourceText, notBelow floor: Int
    ) -> Range<Int>? {
        func isBreak(_ index: Int) -> Bool {
            text[index] == Byte.lineFeed || text[index] == Byte.carriageReturn
        }
        var end = index
        while end > floor, !isBreak(end - 1) { end -= 1 }
        guard end > floor else { return nil }
        end -= 1
        if end > floor, text[end] == Byte.lineFeed, text[end - 1] == Byte.carriageReturn {
            end -= 1
        }
        var start = end
        while start > floor, !isBreak(start - 1) { start -= 1 }
        // The rest of an assignment's line does not count as a line.
        let isWhole = start == 0 || start > floor
        let afterMark = start == 0 && text.has("\u{FEFF}", at: 0) ? 3 : start
        return isWhole ? min(afterMark, end)..<end : nil
    }
}
