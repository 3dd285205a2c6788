extension SpecScanner {
    /// Moves from the first byte of the line past the line feed of an item; nil if it is unreadable.
    mutating func item() throws(SchemaError) -> SpecItem? {
        let start = index
        skipBlanks()
        skipExport()
        guard byte.isLetter || byte == UInt8(ascii: "_") else { return nil }
        let keyStart = index
        while byte.isNamePart || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") {
            index += 1
        }
        let key = text(keyStart..<index)
        skipBlanks()
        guard byte == UInt8(ascii: "=") else { return nil }
        index += 1
        var item = SpecItem(key: key, line: line(at: start), value: try itemValue())
        skipBlanks()
        if byte == UInt8(ascii: "#") {
            guard !isAtDivider, let comment = try comment() else { return nil }
            if case .decorators(let decorators) = comment { item.decorators = decorators }
        }
        return endLine() ? item : nil
    }

    private mutating func skipExport() {
        let word = "export".utf8
        guard bytes[index...].starts(with: word), byte(at: index + word.count) == 0x20 else {
            return
        }
        index += word.count
        skipBlanks()
    }

    private mutating func itemValue() throws(SchemaError) -> SpecValue? {
        if let value = try structure(.item, depth: 0) { return value }
        if byte.isQuoteByte { return try quoted(spansLines: true).map { .text($0) } }
        let start = index
        skipBlanks()
        // After blanks, a quote is an error: the other tool reads neither text nor quotes there.
        guard !byte.isQuoteByte else { return nil }
        let first = index
        while !isAtEnd, byte != UInt8(ascii: "#"), byte != UInt8(ascii: "\n") { index += 1 }
        try spend(index - start)
        guard index > first else { return nil }
        let content = text(first..<index).trimmingASCIISpace
        return content.isEmpty ? nil : .text(SpecText(content: content, quote: .none))
    }
}
