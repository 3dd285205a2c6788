extension SpecScanner {
    enum Comment {
        /// The text after `#` and blanks.
        case text(String)
        case decorators([SpecDecorator])
    }

    /// Whether `#`, blanks and three signs of a divider are at the position.
    var isAtDivider: Bool {
        guard byte == UInt8(ascii: "#") else { return false }
        var start = index + 1
        while byte(at: start).isBlankByte { start += 1 }
        return (start..<start + 3).allSatisfy { byte(at: $0).isDividerByte }
    }

    /// Moves from `#` to the end of the comment, and returns nil if it is unreadable. Decorators may
    /// go on over several lines.
    mutating func comment() throws(SchemaError) -> Comment? {
        index += 1
        skipBlanks()
        if byte == UInt8(ascii: "@") { return try decorators().map { .decorators($0) } }
        let start = index
        skipLine()
        return .text(text(start..<index))
    }

    /// Moves over decorators, which text may separate, to the end of the line.
    mutating func decorators() throws(SchemaError) -> [SpecDecorator]? {
        var list: [SpecDecorator] = []
        while true {
            guard let decorator = try decorator() else { return nil }
            list.append(decorator)
            guard let hasText = skipText() else { return nil }
            list[list.count - 1].hasStrayText = hasText
            if byte == UInt8(ascii: "#") { skipLine() }
            if isAtEnd || byte == UInt8(ascii: "\n") { return list }
        }
    }

    /// Moves past the blanks and words after a decorator. Returns whether there are words, or nil if
    /// something follows without a blank.
    private mutating func skipText() -> Bool? {
        var hasText = false
        while true {
            let start = index
            skipBlanks()
            switch byte {
            case 0, UInt8(ascii: "\n"), UInt8(ascii: "#"): return hasText
            case UInt8(ascii: "@"): return index > start ? hasText : nil
            default: break
            }
            guard index > start else { return nil }
            hasText = true
            while !isAtEnd, !byte.isBlankByte, byte != UInt8(ascii: "@"),
                byte != UInt8(ascii: "\n")
            {
                index += 1
            }
        }
    }

    /// Moves past `@name`, `@name=value` or `@name(…)`; nil if none is there.
    private mutating func decorator() throws(SchemaError) -> SpecDecorator? {
        let start = index
        guard byte == UInt8(ascii: "@"), byte(at: index + 1).isLetter else { return nil }
        index += 1
        while !isAtEnd, !byte.endsDecoratorName { index += 1 }
        let name = text(start + 1..<index)
        let value: SpecDecorator.Value
        switch byte {
        case UInt8(ascii: "("):
            guard let arguments = try elements(.comment, .call, depth: 0) else { return nil }
            value = .arguments(arguments)
        case UInt8(ascii: "="):
            index += 1
            guard let assigned = try assignedValue() else { return nil }
            value = .value(assigned)
        default: value = .none
        }
        return SpecDecorator(name: name, value: value, line: line(at: start))
    }

    private mutating func assignedValue() throws(SchemaError) -> SpecValue? {
        if let value = try structure(.comment, depth: 0) { return value }
        if byte.isQuoteByte { return try quoted(spansLines: false).map { .text($0) } }
        let start = index
        while !isAtEnd, byte != UInt8(ascii: "#"), byte != UInt8(ascii: " "),
            byte != UInt8(ascii: "\n")
        {
            index += 1
        }
        guard index > start else { return nil }
        return .text(SpecText(content: text(start..<index).trimmingASCIISpace, quote: .none))
    }
}

extension UInt8 {
    fileprivate var endsDecoratorName: Bool {
        switch self {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "="),
            UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "#"), UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
