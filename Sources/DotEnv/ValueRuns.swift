/// A piece of a decoded value.
enum ValueRun: Equatable {
    /// Bytes of the source, verbatim.
    case source(Range<Int>)
    /// One byte that is not in the source.
    case literal(UInt8)
}

/// Decodes a stretch of the source piece by piece, without storing it.
struct ValueRuns {
    let text: SourceText
    private let encoding: DotEnvEncoding
    private let end: Int
    private var index: Int
    /// Offsets of quotes that are dropped, ascending.
    private var dropped: [Int] = []
    private var shell = ShellQuoting()
    /// Bytes to return next, the lowest first.
    private var pending: UInt32 = 0
    private var pendingDollars = 0
    private var block: YAMLBlock?

    init(_ text: SourceText, _ range: Range<Int>, _ encoding: DotEnvEncoding) {
        self.text = text
        self.encoding = encoding
        let clamped = range.clamped(to: 0..<text.count)
        index = clamped.lowerBound
        end = clamped.upperBound
        if encoding == .separated || encoding == .separatedEscapes {
            dropped = Self.droppedQuotes(text, clamped)
        }
        if encoding == .yamlBlock {
            block = YAMLBlock(text, clamped)
            index = block?.start ?? end
        }
    }

    /// Returns the next piece, or nil at the end. No piece is empty.
    mutating func next() -> ValueRun? {
        if pending != 0 {
            defer { pending >>= 8 }
            return .literal(UInt8(truncatingIfNeeded: pending))
        }
        if pendingDollars > 0 {
            pendingDollars -= 1
            return .literal(Byte.dollar)
        }
        guard index < end else { return nil }
        switch encoding {
        case .verbatim: return run(to: end)
        case .lineBreaks: return nextNormalized(escapes: false)
        case .lineBreakEscapes: return nextNormalized(escapes: true)
        case .separated: return nextSeparated(escapes: false)
        case .separatedEscapes: return nextSeparated(escapes: true)
        case .withoutReturns: return nextWithoutReturns(escapes: false)
        case .withoutReturnsEscapes: return nextWithoutReturns(escapes: true)
        case .pythonSingle: return nextPython(isDouble: false)
        case .pythonDouble: return nextPython(isDouble: true)
        case .systemd: return nextShellLike(isSystemd: true)
        case .shell: return nextShellLike(isSystemd: false)
        case .composeBare: return nextComposeBare()
        case .composeSingle: return nextComposeSingle()
        case .composeDouble: return nextComposeDouble(isLive: false)
        case .composeDoubleLive: return nextComposeDouble(isLive: true)
        case .quoted: return nextQuoted()
        case .yamlSingle: return nextSingleQuoted()
        case .yamlBlock: return nextOfBlock()
        }
    }

    private mutating func nextQuoted() -> ValueRun? {
        if text[index] == Byte.backslash, let escape = QuotedString.escape(text, at: index) {
            let bytes = escape.scalar.utf8.reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            pending = bytes >> 8
            return literal(UInt8(truncatingIfNeeded: bytes), skipping: escape.length)
        }
        return run(to: text.firstIndex(of: Byte.backslash, from: index + 1, to: end))
    }

    /// A quote is written twice.
    private mutating func nextSingleQuoted() -> ValueRun? {
        if text[index] == Byte.singleQuote, index + 1 < end { index += 1 }
        return run(to: text.firstIndex(of: Byte.singleQuote, from: index + 1, to: end))
    }

    private mutating func nextOfBlock() -> ValueRun? {
        guard let run = block?.next(text, &index) else {
            index = end
            return nil
        }
        return run
    }

    private mutating func run(to stop: Int) -> ValueRun? {
        let start = index
        index = stop
        return start < stop ? .source(start..<stop) : nil
    }

    private mutating func literal(_ byte: UInt8, skipping width: Int) -> ValueRun {
        index += width
        return .literal(byte)
    }

    /// Returns the next CR from `index + offset` on, or backslash if `atBackslash`.
    private func stop(_ offset: Int, atBackslash: Bool) -> Int {
        var position = index + offset
        while position < end {
            let byte = text[position]
            if byte == Byte.carriageReturn || (atBackslash && byte == Byte.backslash) { break }
            position += 1
        }
        return min(position, end)
    }

    private mutating func nextNormalized(escapes: Bool) -> ValueRun? {
        let byte = text[index]
        if byte == Byte.carriageReturn {
            if index + 1 < end, text[index + 1] == Byte.lineFeed {
                index += 1
            } else {
                return literal(Byte.lineFeed, skipping: 1)
            }
        } else if byte == Byte.backslash, escapes, index + 1 < end {
            if text[index + 1] == UInt8(ascii: "n") { return literal(Byte.lineFeed, skipping: 2) }
            if text[index + 1] == UInt8(ascii: "r") {
                return literal(Byte.carriageReturn, skipping: 2)
            }
        }
        return run(to: stop(1, atBackslash: escapes))
    }

    private mutating func nextSeparated(escapes: Bool) -> ValueRun? {
        if let first = dropped.first, first == index {
            dropped.removeFirst()
            index += 1
            return next()
        }
        if escapes, text[index] == Byte.backslash, index + 1 < end {
            if text[index + 1] == UInt8(ascii: "n") { return literal(Byte.lineFeed, skipping: 2) }
            if text[index + 1] == UInt8(ascii: "r") {
                return literal(Byte.carriageReturn, skipping: 2)
            }
        }
        return run(to: min(stop(1, atBackslash: escapes), dropped.first ?? end))
    }

    /// Returns the quotes that `replace(/^(['"`])([\s\S]*)\1$/mg, '$2')` drops from a value without
    /// line breaks but with U+2028 or U+2029, at which `^` and `$` match too. Six at most, as a
    /// match includes the last closing quote of its kind.
    private static func droppedQuotes(_ text: SourceText, _ range: Range<Int>) -> [Int] {
        let quotes = [Byte.singleQuote, Byte.doubleQuote, Byte.backtick]
        var lastClose = [Int](repeating: -1, count: quotes.count)
        for index in range {
            guard let kind = quotes.firstIndex(of: text[index]) else { continue }
            if index + 1 == range.upperBound || text.separatorWidth(at: index + 1) > 0 {
                lastClose[kind] = index
            }
        }
        var dropped: [Int] = []
        var index = range.lowerBound
        while index < range.upperBound {
            let isStart = index == range.lowerBound || text.separatorWidth(at: index - 3) > 0
            if isStart, let kind = quotes.firstIndex(of: text[index]), lastClose[kind] > index {
                dropped += [index, lastClose[kind]]
                index = lastClose[kind]
            }
            index += 1
        }
        return dropped
    }

    private mutating func nextWithoutReturns(escapes: Bool) -> ValueRun? {
        while index < end, text[index] == Byte.carriageReturn { index += 1 }
        guard index < end else { return nil }
        if escapes, text[index] == Byte.backslash {
            // The escape is recognized after CRs are dropped.
            var after = index + 1
            while after < end, text[after] == Byte.carriageReturn { after += 1 }
            if after < end, text[after] == UInt8(ascii: "n") {
                index = after + 1
                return .literal(Byte.lineFeed)
            }
        }
        return run(to: stop(1, atBackslash: escapes))
    }

    private mutating func nextPython(isDouble: Bool) -> ValueRun? {
        let byte = text[index]
        if byte == Byte.carriageReturn {
            if index + 1 < end, text[index + 1] == Byte.lineFeed {
                index += 1
            } else {
                return literal(Byte.lineFeed, skipping: 1)
            }
        } else if byte == Byte.backslash, index + 1 < end {
            let next = text[index + 1]
            let known =
                isDouble ? Self.escape(next) : nil
            if let known { return literal(known, skipping: 2) }
            if next == Byte.backslash || next == Byte.singleQuote {
                return literal(next, skipping: 2)
            }
        }
        return run(to: stop(1, atBackslash: true))
    }

    /// Returns the meaning of a letter or double quote after a backslash in C-like strings.
    private static func escape(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "a"): return 0x07
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "v"): return 0x0B
        case Byte.doubleQuote: return Byte.doubleQuote
        default: return nil
        }
    }

    private mutating func nextShellLike(isSystemd: Bool) -> ValueRun? {
        while index < end {
            let step = shell.step(text, index, end, isSystemd: isSystemd)
            index += step.width
            switch step.output {
            case .nothing: continue
            case .last:
                let start = index - 1
                // Plain bytes in the same state join the run.
                var stop = index
                while stop < end, shell.isPlain(text[stop], isSystemd: isSystemd) { stop += 1 }
                index = stop
                return .source(start..<stop)
            case .backslashAndLast:
                pending = UInt32(text[index - 1])
                return .literal(Byte.backslash)
            }
        }
        return nil
    }

    private mutating func nextComposeBare() -> ValueRun? {
        if text[index] == Byte.dollar, index + 1 < end, text[index + 1] == Byte.dollar {
            return literal(Byte.dollar, skipping: 2)
        }
        return run(to: text.firstIndex(of: Byte.dollar, from: index + 1, to: end))
    }

    private mutating func nextComposeSingle() -> ValueRun? {
        if text[index] == Byte.backslash, index + 1 < end, text[index + 1] == Byte.singleQuote {
            return literal(Byte.singleQuote, skipping: 2)
        }
        if text[index] == Byte.backslash, index + 1 < end {
            // A backslash before anything else, also another backslash, is literal.
            return run(to: index + 2)
        }
        return run(to: text.firstIndex(of: Byte.backslash, from: index + 1, to: end))
    }

    private mutating func nextComposeDouble(isLive: Bool) -> ValueRun? {
        if text[index] == Byte.dollar || text[index] == Byte.backslash, !isLive,
            let dollars = dollarRun()
        {
            // Two are one, and one before anything but a name stays: half of them, rounded up.
            index = dollars.end
            pendingDollars = (dollars.count + 1) / 2 - 1
            return .literal(Byte.dollar)
        }
        if text[index] == Byte.backslash, index + 1 < end, let run = composeEscape() {
            return run
        }
        var stop = index + 1
        while stop < end, text[stop] != Byte.backslash, text[stop] != Byte.dollar { stop += 1 }
        return run(to: stop)
    }

    /// Returns the stretch of `$` and `\$` from here on; `\$` counts as two.
    private func dollarRun() -> (count: Int, end: Int)? {
        var position = index
        var count = 0
        while position < end {
            if text[position] == Byte.dollar {
                count += 1
                position += 1
            } else if text[position] == Byte.backslash, position + 1 < end,
                text[position + 1] == Byte.dollar
            {
                count += 2
                position += 2
            } else {
                break
            }
        }
        return count > 0 ? (count, position) : nil
    }

    /// Decodes a backslash in double quotes of Compose.
    private mutating func composeEscape() -> ValueRun? {
        let next = text[index + 1]
        if next == UInt8(ascii: "0") { return composeOctal() }
        if next == Byte.backslash { return literal(Byte.backslash, skipping: 2) }
        if let byte = Self.escape(next) { return literal(byte, skipping: 2) }
        // Anything else keeps its backslash.
        return run(to: index + 2)
    }

    /// Decodes `\0` and up to three digits: a character for three octal digits, otherwise the same
    /// text without the 0.
    private mutating func composeOctal() -> ValueRun? {
        var digits = 0
        var value = 0
        var isOctal = true
        while digits < 3, index + 2 + digits < end {
            let digit = text[index + 2 + digits] &- 0x30
            guard digit < 10 else { break }
            if digit > 7 { isOctal = false }
            value = value * 8 + Int(digit)
            digits += 1
        }
        guard digits == 3, isOctal, value > 0, value < 256 else {
            return literal(Byte.backslash, skipping: 2)
        }
        let byte = UInt8(truncatingIfNeeded: value)
        if byte < 0x80 { return literal(byte, skipping: 5) }
        pending = UInt32(0x80 | (byte & 0x3F))
        return literal(0xC0 | (byte >> 6), skipping: 5)
    }
}
