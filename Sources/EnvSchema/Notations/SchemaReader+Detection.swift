extension SchemaReader {
    /// - Parameter bytes: UTF-8 without NUL, CR LF and byte order mark.
    static func notation(ofNormalized bytes: [UInt8], fileName: String) -> Schema.Notation {
        if fileName.utf8.suffix(5).elementsEqual(".toml".utf8) { return .secretspec }
        var scanner = SpecScanner(bytes)
        do throws(SchemaError) {
            return try scanner.findDecorators() ? .envSpec : .plain
        } catch {
            // Only what looks like decorators is read so often; the reader then says where it is
            // unreadable.
            return .envSpec
        }
    }
}

extension SpecScanner {
    /// Whether a comment, on its own line or after a value, starts with a built-in decorator and
    /// contains nothing but decorators up to the next `#`. Other files only happen to contain `@`.
    fileprivate mutating func findDecorators() throws(SchemaError) -> Bool {
        while !isAtEnd {
            skipBlanks()
            if byte != UInt8(ascii: "#") { try skipToComment() }
            if byte == UInt8(ascii: "#") {
                let next = index + 1
                index = next
                skipBlanks()
                if try isAtDecorators() { return true }
                index = next
            }
            skipLine()
            index += 1
        }
        return false
    }

    private mutating func isAtDecorators() throws(SchemaError) -> Bool {
        guard byte == UInt8(ascii: "@") else { return false }
        let start = index
        guard let list = try decorators() else {
            try spend(index - start)
            return false
        }
        try spend(index - start)
        guard let first = list.first, SpecDecoratorTable.isBuiltIn(first.name) else {
            return false
        }
        return !list.contains { $0.hasStrayText }
    }

    /// Moves to the comment after the value of this line, or to the end of its last line.
    private mutating func skipToComment() throws(SchemaError) {
        while !isAtEnd, byte != UInt8(ascii: "="), byte != UInt8(ascii: "\n"),
            byte != UInt8(ascii: "#")
        {
            index += 1
        }
        if byte == UInt8(ascii: "=") {
            index += 1
            skipBlanks()
            if byte.isQuoteByte { _ = try quoted(spansLines: true) }
        }
        while !isAtEnd, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "#") { index += 1 }
    }
}
