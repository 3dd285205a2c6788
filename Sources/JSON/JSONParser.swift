/// Checks the grammar of a JSON text and records where its values are.
@safe struct JSONParser {
    private let bytes: UnsafeRawBufferPointer
    /// Where reading goes on, or failed.
    private(set) var offset = 0
    private var nodes: [JSONTree.Node] = []

    init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = unsafe bytes }

    /// Returns the nodes, outermost first. Nesting uses heap memory, not the stack.
    mutating func parsed() throws(JSONError) -> [JSONTree.Node] {
        guard unsafe bytes.count < UInt32.max,
            unsafe UTF8Check.isValid(RawSpan(_unsafeBytes: bytes))
        else { throw .malformed }
        // Some editors write a byte order mark.
        if unsafe bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
        /// The enclosing objects and arrays.
        var open: [Int] = []
        repeat {
            if let begun = try value() {
                guard open.count < JSONTree.maximumDepth else { throw .tooDeep }
                open.append(begun)
                if try takeEnd(of: begun) {
                    close(&open)
                } else {
                    try beginElement(of: begun)
                    continue
                }
            }
            while let last = open.last {
                if take(UInt8(ascii: ",")) {
                    try beginElement(of: last)
                    break
                }
                guard try takeEnd(of: last) else { throw .malformed }
                close(&open)
            }
        } while !open.isEmpty
        skipBlanks()
        guard unsafe offset == bytes.count else { throw .malformed }
        return nodes
    }

    private mutating func close(_ open: inout [Int]) {
        let index = open.removeLast()
        nodes[index].next = UInt32(nodes.count)
    }

    /// Counts an element of an object or array, and reads the name of a member.
    private mutating func beginElement(of index: Int) throws(JSONError) {
        nodes[index].count += 1
        guard nodes[index].kind == .object else { return }
        skipBlanks()
        guard peek() == UInt8(ascii: "\"") else { throw .malformed }
        try text()
        guard take(UInt8(ascii: ":")) else { throw .malformed }
    }

    private mutating func takeEnd(of index: Int) throws(JSONError) -> Bool {
        take(nodes[index].kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    /// Reads a value. Of an object or array it reads only the start, and returns its node.
    private mutating func value() throws(JSONError) -> Int? {
        skipBlanks()
        switch peek() {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            append(peek() == UInt8(ascii: "{") ? .object : .array, from: offset)
            offset += 1
            return nodes.count - 1
        case UInt8(ascii: "\""): try text()
        case UInt8(ascii: "t"): try word("true", .yes)
        case UInt8(ascii: "f"): try word("false", .no)
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number()
        }
        return nil
    }

    /// Adds the node of what was read from `start` on, without elements yet.
    private mutating func append(_ kind: JSONTree.Kind, from start: Int) {
        nodes.append(
            .init(
                kind: kind, start: UInt32(start), count: UInt32(offset - start),
                next: UInt32(nodes.count + 1)))
    }

    private mutating func text() throws(JSONError) {
        offset += 1
        let start = offset
        var kind = JSONTree.Kind.text
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                append(kind, from: start)
                offset += 1
                return
            case UInt8(ascii: "\\"):
                kind = .escapedText
                if let escape = unsafe JSONEscapes.escape(in: bytes, at: offset) {
                    offset += escape.length
                } else {
                    // An unpaired surrogate is valid in the grammar.
                    guard unsafe JSONEscapes.unit(in: bytes, at: offset) != nil else {
                        throw .malformed
                    }
                    offset += 6
                }
            case 0..<0x20: throw .malformed
            default: offset += 1
            }
        }
        throw .malformed
    }

    private mutating func word(_ word: StaticString, _ kind: JSONTree.Kind) throws(JSONError) {
        let (start, end) = (offset, offset + word.utf8CodeUnitCount)
        guard unsafe end <= bytes.count,
            unsafe bytes[start..<end].elementsEqual(
                UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { throw .malformed }
        offset = end
        append(kind, from: start)
    }

    private mutating func number() throws(JSONError) {
        let start = offset
        if peek() == UInt8(ascii: "-") { offset += 1 }
        if peek() == UInt8(ascii: "0") { offset += 1 } else { try digits() }
        if peek() == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            offset += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        append(.number, from: start)
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            offset += 1
        }
        guard offset > start else { throw .malformed }
    }

    private func peek() -> UInt8? { unsafe offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ wanted: UInt8) -> Bool {
        skipBlanks()
        guard peek() == wanted else { return false }
        offset += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            offset += 1
        }
    }
}
