/// JSON text (RFC 8259), and where in it each value is: a value is named by the place of its node, the
/// outermost by 0. Only texts that are asked for are copied.
///
/// The bytes belong to the caller; after ``read(_:_:)`` and ``JSONDecoder`` nothing of them can be read
/// any more. Grammar and UTF-8 are checked before anything is given out. An escape that is half of a surrogate
/// pair is within the grammar: it is seen when its text is asked for, so that it does not hide all others.
@safe package final class JSONTree {
    /// How many objects and arrays may be inside of each other.
    package static let maximumDepth = 64

    /// What a value is.
    package enum Kind: UInt8, Sendable {
        case object, array, text, escapedText, number, yes, no, null
    }

    /// One value, or the name of a member, which comes right before its value. What is inside of an
    /// object or an array comes right behind it.
    struct Node {
        var kind: Kind
        /// The first byte of a number, or the one behind the quotation mark of a text.
        var start: UInt32
        /// The bytes of a number or between the quotation marks; of an object or array, how many
        /// members or elements.
        var count: UInt32
        /// The node behind this one and all that is inside of it.
        var next: UInt32
    }

    private(set) var nodes: [Node]
    private var bytes: UnsafeRawBufferPointer

    /// Reads a whole text, with nothing but blanks around its one value. It takes as much memory as eight
    /// times the bytes for the places of what it found, and no copy of them.
    ///
    /// - Throws: ``JSONError``, and what `body` throws.
    package static func read<Result>(
        _ bytes: RawSpan, _ body: (JSONTree) throws -> Result
    ) throws -> Result {
        try unsafe bytes.withUnsafeBytes { bytes in
            let document = unsafe try JSONTree(bytes)
            defer { document.forgetBytes() }
            return try body(document)
        }
    }

    /// Tells whether bytes are JSON.
    package static func isJSON(_ bytes: RawSpan) -> Bool {
        (try? read(bytes) { _ in true }) ?? false
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        unsafe self.bytes = unsafe bytes
        var parser = unsafe JSONParser(bytes)
        nodes = try parser.parsed()
    }

    /// Ends the use of the bytes.
    func forgetBytes() {
        unsafe bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        nodes = []
    }

    /// The error for what cannot be read as the type that was asked for.
    static var mismatch: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "not a value of this type"))
    }

    private func node(_ index: Int) throws -> Node {
        guard index < nodes.count else { throw JSONError.malformed }
        return nodes[index]
    }

    /// What the value is; null where there is none.
    package func kind(_ index: Int) -> Kind { index < nodes.count ? nodes[index].kind : .null }

    private func bytes(of node: Node) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: bytes[Int(node.start)...].prefix(Int(node.count)))
    }

    /// The node behind `index` and all that is inside of it.
    package func next(after index: Int) -> Int {
        index < nodes.count ? Int(nodes[index].next) : index
    }

    /// Calls `body` with the nodes of the name and the value of each member until it returns false; for what
    /// is no object, never.
    package func forEachMember(of index: Int, _ body: (Int, Int) throws -> Bool) rethrows {
        guard kind(index) == .object else { return }
        var name = index + 1
        for _ in 0..<nodes[index].count {
            guard try body(name, name + 1) else { return }
            name = next(after: name + 1)
        }
    }

    /// The nodes of an array's elements; none for anything else.
    package func elements(of index: Int) -> [Int] {
        guard kind(index) == .array else { return [] }
        var element = index + 1
        return (0..<nodes[index].count).map { _ in
            defer { element = next(after: element) }
            return element
        }
    }

    /// How many members or elements the value has, if it is of this kind.
    func count(_ index: Int, of kind: Kind) throws -> Int {
        let node = try node(index)
        guard node.kind == kind else { throw Self.mismatch }
        return Int(node.count)
    }

    package func isNull(_ index: Int) -> Bool { index < nodes.count && nodes[index].kind == .null }

    package func flag(_ index: Int) throws -> Bool {
        switch try node(index).kind {
        case .yes: true
        case .no: false
        default: throw Self.mismatch
        }
    }

    /// The text; half of a surrogate pair is replaced by U+FFFD.
    package func text(_ index: Int) throws -> String {
        let node = try node(index)
        let text: String?
        switch node.kind {
        case .text: text = unsafe String(validating: bytes(of: node), as: UTF8.self)
        case .escapedText:
            var resolved: [UInt8] = []
            resolved.reserveCapacity(Int(node.count))
            _ = unsafe JSONEscapes.resolve(bytes(of: node)) { resolved.append($0) }
            text = String(validating: resolved, as: UTF8.self)
        default: throw Self.mismatch
        }
        guard let text else { throw Self.mismatch }
        return text
    }

    /// Gives the bytes of a text one by one, escapes resolved, without a copy.
    ///
    /// - Returns: Whether that is all of it: false for what is no text, or has half of a surrogate pair.
    package func forEachByte(ofText index: Int, _ body: (UInt8) -> Void) -> Bool {
        guard nodes.indices.contains(index) else { return false }
        let node = nodes[index]
        guard node.kind == .text || node.kind == .escapedText else { return false }
        return unsafe JSONEscapes.resolve(bytes(of: node), to: body)
    }

    /// Whether the text is `name`, byte for byte.
    package func isText(_ index: Int, _ name: String) -> Bool {
        guard index < nodes.count else { return false }
        let node = nodes[index]
        guard node.kind == .text else { return (try? text(index)) == name }
        guard name.utf8.count == Int(node.count) else { return false }
        return unsafe name.utf8.elementsEqual(bytes(of: node))
    }

    /// A number that is written without fraction and exponent and fits; nil for anything else.
    func whole(_ index: Int) -> Int64? {
        guard kind(index) == .number else { return nil }
        return unsafe Int64(String(decoding: bytes(of: nodes[index]), as: UTF8.self))
    }

    /// A whole number, which may be written with a fraction of zero or an exponent.
    package func integer<Number: FixedWidthInteger>(_ index: Int) throws -> Number {
        let node = try node(index)
        guard node.kind == .number else { throw Self.mismatch }
        if let number = unsafe Number(String(decoding: bytes(of: node), as: UTF8.self)) {
            return number
        }
        guard let number = Number(exactly: try real(index)) else { throw Self.mismatch }
        return number
    }

    package func real(_ index: Int) throws -> Double {
        let node = try node(index)
        guard node.kind == .number,
            let number = unsafe Double(String(decoding: bytes(of: node), as: UTF8.self)),
            number.isFinite
        else { throw Self.mismatch }
        return number
    }
}
