import JSON

/// Properties of parsing any bytes as JSON.
enum JSONFuzzing {
    /// Parses them as a tree and as a value: nothing past the end is read, texts are the same both
    /// ways, and the result is written and parsed again unchanged.
    static func exercise(_ input: [UInt8]) throws {
        let isJSON = unsafe JSONTree.isJSON(input.span.bytes)
        let value = try? JSONValue(parsing: input)
        guard isJSON else {
            guard value == nil else { throw FuzzFinding("what is not JSON was read") }
            return
        }
        try unsafe JSONTree.read(input.span.bytes) { tree in
            let count = try walk(tree, 0, depth: 0)
            guard count <= input.count else {
                throw FuzzFinding("\(count) values in \(input.count) bytes")
            }
        }
        // A number may be too large for any type.
        guard let value else { return }
        guard try JSONValue(parsing: value.encoded) == value else {
            throw FuzzFinding("a value is another one once it is written and read")
        }
    }

    /// Visits a value and everything inside it, and returns the number of values.
    private static func walk(_ tree: JSONTree, _ node: Int, depth: Int) throws -> Int {
        guard depth <= JSONTree.maximumDepth else { throw FuzzFinding("nested \(depth) deep") }
        var count = 1
        switch tree.kind(node) {
        case .object:
            try tree.forEachMember(of: node) { name, value in
                try check(tree, text: name)
                count += try walk(tree, value, depth: depth + 1)
                return true
            }
        case .array:
            for element in tree.elements(of: node) {
                count += try walk(tree, element, depth: depth + 1)
            }
        case .text, .escapedText: try check(tree, text: node)
        case .number: _ = try? tree.real(node)
        case .yes, .no: _ = try tree.flag(node)
        case .null:
            guard tree.isNull(node) else { throw FuzzFinding("null is not null") }
        }
        return count
    }

    private static func check(_ tree: JSONTree, text node: Int) throws {
        let text = try tree.text(node)
        var bytes: [UInt8] = []
        let isWhole = tree.forEachByte(ofText: node) { bytes.append($0) }
        guard Array(text.utf8) == bytes else { throw FuzzFinding("a text is two different ones") }
        guard tree.isText(node, text) else { throw FuzzFinding("a text is not itself") }
        guard isWhole || text.unicodeScalars.contains("\u{FFFD}") else {
            throw FuzzFinding("half of a character left no trace")
        }
    }
}
