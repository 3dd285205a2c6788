extension SpecScanner {
    /// Moves past a value within a call or literal, and returns it, or nil without moving.
    mutating func element(
        _ context: Context, inLiteral: Bool, depth: Int
    ) throws(SchemaError) -> SpecValue? {
        if let value = try structure(context, depth: depth) { return value }
        if byte.isQuoteByte, let text = try quoted(spansLines: false) { return .text(text) }
        return try bareElement(inLiteral: inLiteral).map { .text($0) }
    }

    /// Moves past an object, a list or a call.
    mutating func structure(_ context: Context, depth: Int) throws(SchemaError) -> SpecValue? {
        let start = index
        let value: SpecValue?
        switch byte {
        case UInt8(ascii: "{"):
            value = try elements(context, .object, depth: depth).map { .object($0) }
        case UInt8(ascii: "["):
            value = try elements(context, .list, depth: depth).map { .list($0.map(\.value)) }
        default:
            if let name = name(), byte == UInt8(ascii: "(") {
                value = try elements(context, .call, depth: depth).map {
                    .call(SpecCall(name: text(name), arguments: $0))
                }
            } else {
                value = nil
            }
        }
        if value == nil {
            try spend(index - start)
            index = start
        }
        return value
    }

    /// What encloses elements.
    enum Enclosure {
        case call, list, object

        var close: UInt8 {
            switch self {
            case .call: UInt8(ascii: ")")
            case .list: UInt8(ascii: "]")
            case .object: UInt8(ascii: "}")
            }
        }
    }

    /// Moves past elements from the opening to the closing bracket; nil if that is not possible,
    /// and then the position is anywhere.
    mutating func elements(
        _ context: Context, _ enclosure: Enclosure, depth: Int
    ) throws(SchemaError) -> [SpecArgument]? {
        guard depth < Self.maximumDepth else { throw failure(at: index) }
        index += 1
        try skipSpace(context)
        var list: [SpecArgument] = []
        while let element = try member(context, enclosure, depth: depth + 1) {
            guard list.count < Self.maximumElements else { throw failure(at: index) }
            list.append(element)
            try skipSpace(context)
            guard byte == UInt8(ascii: ",") else { break }
            index += 1
            try skipSpace(context)
        }
        // Without any element, a comma alone may stand there.
        if list.isEmpty, byte == UInt8(ascii: ",") {
            index += 1
            try skipSpace(context)
        }
        guard byte == enclosure.close else { return nil }
        index += 1
        return list
    }

    private mutating func member(
        _ context: Context, _ enclosure: Enclosure, depth: Int
    ) throws(SchemaError) -> SpecArgument? {
        let start = index
        if enclosure != .list, let name = name() {
            // Only members of an object may have blanks around the sign.
            if enclosure == .object { skipBlanks() }
            if byte == UInt8(ascii: "=") {
                index += 1
                if enclosure == .object { skipBlanks() }
                if let value = try element(
                    context, inLiteral: enclosure == .object, depth: depth)
                {
                    return SpecArgument(name: text(name), value: value)
                }
            }
            try spend(index - start)
            index = start
        }
        if enclosure == .object { return nil }
        return try element(context, inLiteral: enclosure == .list, depth: depth)
            .map { SpecArgument(name: nil, value: $0) }
    }

    /// Moves past text without quotes within a call or literal.
    private mutating func bareElement(inLiteral: Bool) throws(SchemaError) -> SpecText? {
        let start = index
        var brace = 0
        scan: while !isAtEnd {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: ","), UInt8(ascii: ")"):
                // In a literal, `${…}` is one piece.
                guard brace > index, byte != UInt8(ascii: "\n") else { break scan }
            case UInt8(ascii: "]") where inLiteral && brace <= index,
                UInt8(ascii: "}") where inLiteral && brace <= index:
                break scan
            case UInt8(ascii: "$") where inLiteral && brace <= index:
                if byte(at: index + 1) == UInt8(ascii: "{") { brace = try endOfBraces() }
            default: break
            }
            index += 1
        }
        try spend(index - start)
        guard index > start else { return nil }
        return SpecText(content: text(start..<index).trimmingASCIISpace, quote: .none)
    }

    /// Returns the index after the `}` of a `${` on this line, or the position without one.
    private mutating func endOfBraces() throws(SchemaError) -> Int {
        var end = index
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
            end += 1
            if bytes[end - 1] == UInt8(ascii: "}") {
                try spend(end - index)
                return end
            }
        }
        try spend(end - index)
        return index
    }

    /// Moves past a quoted text and returns it, or nil without moving if it is not closed.
    mutating func quoted(spansLines: Bool) throws(SchemaError) -> SpecText? {
        let start = index
        let quote = byte
        if spansLines, quote != UInt8(ascii: "'"), byte(at: start + 1) == quote,
            byte(at: start + 2) == quote, let text = try tripleQuoted()
        {
            return text
        }
        index += 1
        while !isAtEnd, byte != quote, spansLines || byte != UInt8(ascii: "\n") {
            index += byte == UInt8(ascii: "\\") && byte(at: index + 1) == quote ? 2 : 1
        }
        try spend(index - start)
        guard byte == quote else {
            index = start
            return nil
        }
        index += 1
        let kind: SpecText.Quote =
            switch quote {
            case UInt8(ascii: "'"): .single
            case UInt8(ascii: "\""): .double
            default: .backtick
            }
        return SpecText(
            content: unquoted(start + 1..<index - 1, quote: quote), quote: kind)
    }

    /// Three quotes enclose text with at least one line break.
    private mutating func tripleQuoted() throws(SchemaError) -> SpecText? {
        let start = index
        let quote = byte
        func isTriple(_ index: Int) -> Bool {
            byte(at: index) == quote && byte(at: index + 1) == quote && byte(at: index + 2) == quote
        }
        index += 3
        var hasBreak = false
        while !isAtEnd, !isTriple(index) {
            if byte == UInt8(ascii: "\n") { hasBreak = true }
            index += byte == UInt8(ascii: "\\") && isTriple(index + 1) ? 4 : 1
        }
        try spend(index - start)
        guard hasBreak, isTriple(index) else {
            index = start
            return nil
        }
        index += 3
        return SpecText(content: unquoted(start + 3..<index - 3, quote: quote), quote: .triple)
    }

    /// The text of a range, with the escapes of the quote resolved.
    private func unquoted(_ range: Range<Int>, quote: UInt8) -> String {
        guard bytes[range].contains(UInt8(ascii: "\\")) else { return text(range) }
        var content: [UInt8] = []
        content.reserveCapacity(range.count)
        for index in range {
            if bytes[index] == quote, content.last == UInt8(ascii: "\\") { content.removeLast() }
            content.append(bytes[index])
        }
        return String(decoding: content, as: UTF8.self)
    }
}

extension String {
    /// Without whitespace at the ends.
    var trimmingASCIISpace: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }
        guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else {
            return self
        }
        let start = utf8.drop(while: isSpace)
        var end = start.endIndex
        while end > start.startIndex, isSpace(utf8[utf8.index(before: end)]) {
            end = utf8.index(before: end)
        }
        return String(self[start.startIndex..<end])
    }
}
