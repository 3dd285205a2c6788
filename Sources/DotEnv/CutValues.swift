/// Finds bare values that go on in the following lines, which all parsers cut at the line break: the
/// first line of a PEM block, and a JSON object or list without its end.
struct CutValues {
    /// A cut value, and the lines that are the rest of it.
    struct Cut {
        /// The index of the statement.
        let statement: Int
        /// From the start of the next line to the end of the last one.
        let rest: Range<Int>
    }

    private let text: SourceText
    /// In the order of the text.
    private(set) var cuts: [Cut] = []

    init(_ text: SourceText, _ statements: [Statement]) {
        self.text = text
        for (index, statement) in statements.enumerated() {
            guard statement.hasValue, statement.value.lowerBound >= cuts.last?.rest.upperBound ?? 0,
                let rest = rest(of: statement), !rest.isEmpty
            else { continue }
            cuts.append(Cut(statement: index, rest: rest))
        }
    }

    /// Returns whether an offset is in the rest of a cut value.
    func contains(_ offset: Int) -> Bool {
        var (low, high) = (0, cuts.count)
        while low < high {
            let middle = (low + high) / 2
            if cuts[middle].rest.lowerBound <= offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low > 0 && cuts[low - 1].rest.contains(offset)
    }

    private func rest(of statement: Statement) -> Range<Int>? {
        let first = text[statement.value.lowerBound]
        guard first == 0x2D || first == 0x7B || first == 0x5B else { return nil }
        guard !text[statement.value.lowerBound - 1].isQuote else { return nil }
        let end = text.firstIndex(
            of: Byte.lineFeed, from: statement.value.lowerBound, to: text.count)
        let value = trimmed(statement.value.lowerBound..<end)
        guard end < text.count, value.upperBound >= trimmed(statement.value).upperBound,
            statement.value.upperBound <= end
        else { return nil }
        let start = end + 1
        if isBegin(value) { return start..<endOfPEM(from: start) }
        guard first != 0x2D, [0x7B, 0x5B, 0x2C].contains(text[value.upperBound - 1]) else {
            return nil
        }
        return start..<endOfJSON(after: value, from: start)
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

    /// Returns whether a line sets a variable.
    private func isAssignment(_ line: Range<Int>) -> Bool {
        var index = line.lowerBound
        if text.has("export ", at: index) { index += 7 }
        let start = index
        while index < line.upperBound, text[index].isNameByte { index += 1 }
        return index > start && text[index] == Byte.equals && !isBase64(line)
    }

    /// Returns whether a line is more likely the end of an encoded text than a long name without a
    /// value.
    private func isBase64(_ line: Range<Int>) -> Bool {
        line.count >= 20 && line.count.isMultiple(of: 4) && isInPEM(line)
    }

    // MARK: PEM

    private func isBegin(_ line: Range<Int>) -> Bool {
        line.count > 16 && text.has("-----BEGIN ", at: line.lowerBound)
            && text.has("-----", at: line.upperBound - 5)
    }

    /// Returns the end of the blocks that begin on the line before; `start` if no line belongs to them.
    private func endOfPEM(from start: Int) -> Int {
        var (index, known, isUnbroken) = (start, start, true)
        while index < text.count {
            let (line, next) = line(at: index)
            if text.has("-----END ", at: line.lowerBound) {
                (known, isUnbroken) = (next, false)
                let following = self.line(at: next)
                guard isBegin(following.content) else { return known }
                index = following.next
                continue
            }
            guard isInPEM(line) else { break }
            // Without an end line, only what is too long for a name is a part for sure.
            if isUnbroken, line.count >= 20 { known = next } else { isUnbroken = false }
            index = next
        }
        return known
    }

    /// Returns whether a line can be between the first and the last one of a block.
    private func isInPEM(_ line: Range<Int>) -> Bool {
        if text.has("Proc-Type:", at: line.lowerBound) || text.has("DEK-Info:", at: line.lowerBound)
        {
            return true
        }
        var end = line.upperBound
        while end > line.lowerBound, line.upperBound - end < 2, text[end - 1] == Byte.equals {
            end -= 1
        }
        return (line.lowerBound..<end).allSatisfy {
            let byte = text[$0]
            return (byte.isWord && byte != 0x5F) || byte == 0x2B || byte == 0x2F
        }
    }

    // MARK: JSON

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
