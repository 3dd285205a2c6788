private import CTOML
private import JSON

/// A parsed file of TOML 1.0. A value is identified by its index; the outermost table is 0, and
/// children keep the order of the file.
@safe struct TOMLDocument: ~Copyable {
    enum Kind: Sendable {
        case table, array, string, flag(Bool)
        /// A number, a date or a time. What it is, no schema needs.
        case other
    }

    /// In bytes. The library copies its input several times.
    static let maximumSize = 1 << 20

    private let document: zg_toml_document

    /// - Throws: ``SchemaError``. A file that is TOML, but of more tables than
    ///   ``TOMLBounds/maximumMarks``, counts as malformed.
    init(_ bytes: [UInt8]) throws(SchemaError) {
        guard bytes.count <= Self.maximumSize else { throw SchemaError(.tooLong) }
        guard unsafe UTF8Check.isValid(bytes.span.bytes), !bytes.contains(0) else {
            throw SchemaError(.notText)
        }
        if let line = TOMLBounds.excess(in: bytes) { throw SchemaError(.syntax, line: line) }
        var document = unsafe zg_toml_document()
        var line: UInt32 = 0
        let isParsed = unsafe bytes.withUnsafeBufferPointer { bytes in
            // An empty array has no address, and the library wants one.
            guard let start = bytes.baseAddress else { return false }
            return unsafe zg_toml_parse(start, bytes.count, &document, &line) != 0
        }
        guard isParsed else {
            throw SchemaError(.syntax, line: line == 0 ? nil : Int(line))
        }
        unsafe self.document = unsafe document
    }

    deinit {
        var document = unsafe document
        unsafe zg_toml_free(&document)
    }

    private func node(_ index: Int) -> zg_toml_node {
        let nodes = unsafe UnsafeBufferPointer(start: document.nodes, count: document.count)
        precondition(nodes.indices.contains(index), "every index comes from the document")
        return unsafe nodes[index]
    }

    private func text(_ start: UInt32, _ length: UInt32) -> String {
        let texts = unsafe UnsafeBufferPointer(start: document.texts, count: document.length)
        return unsafe String(
            decoding: texts.extracting(Int(start)..<Int(start) + Int(length)), as: UTF8.self)
    }

    func kind(_ index: Int) -> Kind {
        switch node(index).kind {
        case ZG_TOML_TABLE: .table
        case ZG_TOML_ARRAY: .array
        case ZG_TOML_STRING: .string
        case ZG_TOML_TRUE: .flag(true)
        case ZG_TOML_FALSE: .flag(false)
        default: .other
        }
    }

    func isTable(_ index: Int) -> Bool { node(index).kind == ZG_TOML_TABLE }

    /// Returns the line of the key, or of an element of an array. Counted from 1; 0 for the whole.
    func line(_ index: Int) -> Int { Int(node(index).line) }

    /// Returns the last part of a dotted key, or an empty text for an element of an array.
    func key(_ index: Int) -> String {
        let node = node(index)
        return text(node.key_start, node.key_length)
    }

    /// Returns a string's value, or nil for anything else.
    func string(_ index: Int) -> String? {
        let node = node(index)
        return node.kind == ZG_TOML_STRING ? text(node.text_start, node.text_length) : nil
    }

    /// Returns what a table or array contains, and nothing for anything else.
    func children(_ index: Int) -> [Int] {
        var children: [Int] = []
        let end = Int(node(index).next)
        var child = index + 1
        while child < end {
            children.append(child)
            child = Int(node(child).next)
        }
        return children
    }

    /// Returns the value of that key, or nil, also for anything but a table.
    func child(_ index: Int, _ key: String) -> Int? {
        guard isTable(index) else { return nil }
        return children(index).first { self.key($0) == key }
    }
}
