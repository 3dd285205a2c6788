/// Finds bare values that go on in the following lines, which all parsers cut at the line break: the
/// first line of a PEM or PGP block, and a JSON object or list without its end; also after a quote
/// that is not closed, and where the block begins on the line after `KEY=`.
struct CutValues {
    /// A cut value, and the lines that are the rest of it.
    struct Cut {
        /// The index of the statement.
        let statement: Int
        /// Whole lines, in order; not empty. Assignments between them are not part of it.
        let rest: [Range<Int>]
    }

    private let text: SourceText
    /// In the order of the text.
    private(set) var cuts: [Cut] = []
    /// The lines of all cuts, in order.
    private var pieces: [Range<Int>] = []

    init(_ text: SourceText, _ statements: [Statement]) {
        self.text = text
        for (index, statement) in statements.enumerated() {
            guard statement.hasValue, statement.value.lowerBound >= pieces.last?.upperBound ?? 0
            else { continue }
            let rest = rest(of: statement)
            guard !rest.isEmpty else { continue }
            cuts.append(Cut(statement: index, rest: rest))
            pieces += rest
        }
    }

    /// Returns whether an offset is in the rest of a cut value.
    func contains(_ offset: Int) -> Bool {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle].lowerBound <= offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low > 0 && pieces[low - 1].contains(offset)
    }

    private func rest(of statement: Statement) -> [Range<Int>] {
        var start = statement.value.lowerBound
        guard start > 0, !text[start - 1].isQuote else { return [] }
        if trimmed(statement.value).isEmpty { return restBelow(statement) }
        let end = text.firstIndex(of: Byte.lineFeed, from: start, to: text.count)
        guard end < text.count, statement.value.upperBound <= end else { return [] }
        // Nothing on this line closes the quote.
        let quote = text[start]
        if quote.isQuote {
            start += 1
            guard !text.contains(quote, in: start..<end) else { return [] }
        }
        let value = trimmed(start..<end)
        if isBegin(value) { return restOfBlocks(from: end + 1) }
        guard value.upperBound >= trimmed(statement.value).upperBound else { return [] }
        return restOfJSON(after: value, from: end + 1)
    }

    /// Returns the lines of a block that begins on the line after a name without a value.
    private func restBelow(_ statement: Statement) -> [Range<Int>] {
        let end = text.firstIndex(
            of: Byte.lineFeed, from: statement.key.upperBound, to: text.count)
        let sign = trimmed(statement.key.upperBound..<end)
        guard end < text.count, text[sign.lowerBound] == Byte.equals,
            isComment(trimmed(min(sign.lowerBound + 1, end)..<end))
        else { return [] }
        let (first, next) = line(at: end + 1)
        let rest =
            isBegin(first) ? restOfBlocks(from: next) : restOfJSON(after: first, from: next)
        return rest.isEmpty ? [] : [end + 1..<next] + rest
    }

    // MARK: Lines

    /// Returns the line that starts at `start`, without blanks around it, and where the next one
    /// starts.
    private func line(at start: Int) -> (content: Range<Int>, next: Int) {
        let end = text.firstIndex(of: Byte.lineFeed, from: start, to: text.count)
        return (trimmed(start..<end), min(end + 1, text.count))
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        func isBlank(_ byte: UInt8) -> Bool {
            byte == Byte.space || byte == Byte.tab || byte == Byte.carriageReturn
        }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isBlank(text[start]) { start += 1 }
        while start < end, isBlank(text[end - 1]) { end -= 1 }
        return start..<end
    }

    /// Returns whether a line is blank or a comment.
    private func isComment(_ line: Range<Int>) -> Bool {
        line.isEmpty || text[line.lowerBound] == Byte.hash
    }

    /// Returns whether a line starts with a name and an equals sign.
    private func hasName(_ line: Range<Int>) -> Bool {
        var index = line.lowerBound
        if text.has("export ", at: index) { index += 7 }
        let start = index
        while index < line.upperBound, text[index].isNameByte { index += 1 }
        return index > start && text[index] == Byte.equals
    }

    /// Returns whether a line sets a variable. One that is more likely the end of an encoded text than
    /// a long name without a value does not.
    private func isAssignment(_ line: Range<Int>) -> Bool {
        hasName(line)
            && !(line.count >= 20 && line.count.isMultiple(of: 4) && isEncoded(line))
    }

    private func contains(_ literal: StaticString, in line: Range<Int>) -> Bool {
        line.contains { text[$0] == 0x2D && text.has(literal, at: $0) }
    }

    // MARK: PEM and PGP

    /// Returns whether a line begins a block and does not end it. A comment may follow.
    private func isBegin(_ line: Range<Int>) -> Bool {
        guard line.count > 16, text.has("-----BEGIN ", at: line.lowerBound) else { return false }
        let label = line.lowerBound + 11..<line.upperBound
        return contains("-----", in: label) && !contains("-----END ", in: label)
    }

    /// Returns the lines of the blocks that begin on the line before.
    private func restOfBlocks(from start: Int) -> [Range<Int>] {
        var (rest, index): ([Range<Int>], Int) = ([], start)
        while let block = block(from: index) {
            rest += block.lines
            let (following, next) = line(at: block.end)
            guard isBegin(following) else { return rest }
            rest.append(block.end..<next)
            index = next
        }
        return rest + restWithoutEnd(from: index)
    }

    /// Returns the lines of a block and where the next line starts; nil if the block does not end
    /// before another one begins. An assignment between its lines is not part of it.
    private func block(from start: Int) -> (lines: [Range<Int>], end: Int)? {
        var (lines, index): ([Range<Int>], Int) = ([], start)
        while index < text.count {
            let (line, next) = line(at: index)
            if text.has("-----END ", at: line.lowerBound) {
                return (lines + [index..<next], next)
            }
            if contains("-----BEGIN ", in: line) { return nil }
            if isEncoded(line) || !hasName(line) { lines.append(index..<next) }
            index = next
        }
        return nil
    }

    /// Returns the lines that belong to a block without an end for sure: its headers, and what is too
    /// long for a name.
    private func restWithoutEnd(from start: Int) -> [Range<Int>] {
        var (rest, index): ([Range<Int>], Int) = ([], start)
        var (isHead, isUnbroken, isAfterPiece) = (true, true, false)
        while index < text.count {
            let (line, next) = line(at: index)
            if contains("-----BEGIN ", in: line) { break }
            let isLong = line.count >= (isUnbroken ? 20 : 40)
            let isPadded = isAfterPiece && text.has("==", at: max(index, line.upperBound - 2))
            isHead = isHead && isHeader(line)
            isAfterPiece = isHead || isEncoded(line) && (isLong || isPadded)
            if isAfterPiece {
                rest.append(index..<next)
            } else if hasName(line) {
                break
            } else if !line.isEmpty {
                isUnbroken = false
            }
            index = next
        }
        return rest
    }

    /// Returns whether a line is a header of a block, such as `Proc-Type: 4,ENCRYPTED`.
    private func isHeader(_ line: Range<Int>) -> Bool {
        var index = line.lowerBound
        while index < line.upperBound, text[index].isWord || text[index] == 0x2D {
            index += 1
        }
        return index > line.lowerBound && text.has(": ", at: index)
    }

    /// Returns whether a line is base64.
    private func isEncoded(_ line: Range<Int>) -> Bool {
        var end = line.upperBound
        while end > line.lowerBound, line.upperBound - end < 2, text[end - 1] == Byte.equals {
            end -= 1
        }
        return end > line.lowerBound
            && (line.lowerBound..<end).allSatisfy {
                let byte = text[$0]
                return (byte.isWord && byte != 0x5F) || byte == 0x2B || byte == 0x2F
            }
    }

    // MARK: JSON

    /// Returns the lines after the first one of an object or list that does not end there.
    private func restOfJSON(after value: Range<Int>, from start: Int) -> [Range<Int>] {
        guard !value.isEmpty, [0x7B, 0x5B].contains(text[value.lowerBound]),
            [0x7B, 0x5B, 0x2C].contains(text[value.upperBound - 1])
        else { return [] }
        let end = endOfJSON(after: value, from: start)
        return end > start ? [start..<end] : []
    }

    /// Returns where an object or list ends; `start` if the next line is not a part of it.
    private func endOfJSON(after value: Range<Int>, from start: Int) -> Int {
        let first = line(at: start).content
        guard !first.isEmpty, text[first.lowerBound] != Byte.hash, !isAssignment(first) else {
            return start
        }
        var depth = 0
        /// Returns whether the outermost bracket is closed.
        func read(_ line: Range<Int>) -> Bool {
            var isInString = false
            var index = line.lowerBound
            while index < line.upperBound {
                switch text[index] {
                case Byte.doubleQuote: isInString.toggle()
                case Byte.backslash where isInString: index += 1
                case 0x7B where !isInString, 0x5B where !isInString: depth += 1
                case 0x7D where !isInString, 0x5D where !isInString: depth -= 1
                default: break
                }
                index += 1
            }
            return depth <= 0
        }
        if read(value) { return start }
        var index = start
        while index < text.count {
            let (line, next) = line(at: index)
            if isAssignment(line) { break }
            index = next
            if read(line) { break }
        }
        return index
    }
}
