/// Parsed JSON (RFC 8259) as a list of nodes that refer to the input. A value is identified by the
/// index of its node; the outermost is 0. Strings are copied only on request.
///
/// The caller owns the bytes, and they are inaccessible once ``read(_:_:)`` or ``JSONDecoder``
/// returns. Grammar and UTF-8 are checked first. An unpaired surrogate in an escape is within the
/// grammar: it is detected when its string is read, so that it does not make everything else
/// unreadable.
@safe package final class JSONTree {
    /// The deepest allowed nesting of objects and arrays.
    package static let maximumDepth = 64

    package enum Kind: UInt8, Sendable {
        case object, array, text, escapedText, number, yes, no, null
    }

    /// A value or a member name. A name is directly followed by its value, an object or array by
    /// its contents.
    struct Node {
        var kind: Kind
        /// The offset of a number, or of a string's first byte after the quotation mark.
        var start: UInt32
        /// The length of a number or string in bytes, or the number of members or elements.
        var count: UInt32
        /// The node after this one and its contents.
        var next: UInt32
    }

    private(set) var nodes: [Node]
    private var bytes: UnsafeRawBufferPointer

    /// Parses a whole text with one value, which only whitespace may surround. The nodes need
    /// up to sixteen times the input's size while they grow; the input is not copied.
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

    /// Returns the offset at which reading a text fails.
    package static func offsetOfFailure(in bytes: RawSpan) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            var parser = unsafe JSONParser(bytes)
            _ = try? parser.parsed()
            return parser.offset
        }
    }

    package static func isJSON(_ bytes: RawSpan) -> Bool {
        (try? read(bytes) { _ in true }) ?? false
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        unsafe self.bytes = unsafe bytes
        var parser = unsafe JSONParser(bytes)
        nodes = try parser.parsed()
    }

    func forgetBytes() {
        unsafe bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        nodes = []
    }

    /// The error for a value that is not of the requested type.
    static var mismatch: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "not a value of this type"))
    }

    private func node(_ index: Int) throws -> Node {
        guard index < nodes.count else { throw JSONError.malformed }
        return nodes[index]
    }

    /// Returns the kind of a node, or null if there is no such node.
    package func kind(_ index: Int) -> Kind { index < nodes.count ? nodes[index].kind : .null }

    private func bytes(of node: Node) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: bytes[Int(node.start)...].prefix(Int(node.count)))
    }

    /// Returns the node after `index` and its contents.
    package func next(after index: Int) -> Int {
        index < nodes.count ? Int(nodes[index].next) : index
    }

    /// Calls `body` with the name and value nodes of each member until it returns false. Does
    /// nothing for anything but an object.
    package func forEachMember(of index: Int, _ body: (Int, Int) throws -> Bool) rethrows {
        guard kind(index) == .object else { return }
        var name = index + 1
        for _ in 0..<nodes[index].count {
            guard try body(name, name + 1) else { return }
            name = next(after: name + 1)
        }
    }

    /// Returns the nodes of an array's elements, or none for anything else.
    package func elements(of index: Int) -> [Int] {
        guard kind(index) == .array else { return [] }
        var element = index + 1
        return (0..<nodes[index].count).map { _ in
            defer { element = next(after: element) }
            return element
        }
    }

    /// Returns the number of members or elements; 0 for anything but an object or array.
    package func count(_ index: Int) -> Int {
        let kind = kind(index)
        return kind == .object || kind == .array ? Int(nodes[index].count) : 0
    }

    /// Returns the number of members or elements of a value of this kind.
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

    /// Returns the string, with unpaired surrogates replaced by U+FFFD.
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

    /// Passes the bytes of a string to `body`, escapes resolved, without copying it.
    ///
    /// - Returns: False for anything but a string, and if there was an unpaired surrogate.
    package func forEachByte(ofText index: Int, _ body: (UInt8) -> Void) -> Bool {
        guard nodes.indices.contains(index) else { return false }
        let node = nodes[index]
        guard node.kind == .text || node.kind == .escapedText else { return false }
        return unsafe JSONEscapes.resolve(bytes(of: node), to: body)
    }

    /// Calls `body` with a string, number or word as it is written: a string without its quotation
    /// marks, with its escapes. Calls it with nothing for an object or array.
    package func withSource<Result>(
        of index: Int, _ body: (RawSpan) throws -> Result
    ) rethrows -> Result {
        guard index < nodes.count, nodes[index].kind != .object, nodes[index].kind != .array else {
            return try body(RawSpan())
        }
        return unsafe try body(RawSpan(_unsafeBytes: bytes(of: nodes[index])))
    }

    /// Returns where a string, without its quotation marks, a number or a word is written; of an object
    /// or array, only where it starts.
    package func range(of index: Int) -> Range<Int> {
        guard index < nodes.count else { return 0..<0 }
        let (node, start) = (nodes[index], Int(nodes[index].start))
        let isNested = node.kind == .object || node.kind == .array
        return start..<start + (isNested ? 0 : Int(node.count))
    }

    /// Returns whether the string equals `name`, byte for byte.
    package func isText(_ index: Int, _ name: String) -> Bool {
        guard index < nodes.count else { return false }
        let node = nodes[index]
        guard node.kind == .text else {
            return (try? text(index))?.utf8.elementsEqual(name.utf8) ?? false
        }
        guard name.utf8.count == Int(node.count) else { return false }
        return unsafe name.utf8.elementsEqual(bytes(of: node))
    }

    /// Returns a number that has no fraction or exponent and fits, or nil.
    func whole(_ index: Int) -> Int64? {
        guard kind(index) == .number else { return nil }
        return unsafe Int64(String(decoding: bytes(of: nodes[index]), as: UTF8.self))
    }

    /// Returns a whole number, which may be written with a zero fraction or an exponent.
    package func integer<Number: FixedWidthInteger>(_ index: Int) throws -> Number {
        let node = try node(index)
        guard node.kind == .number else { throw Self.mismatch }
        if let number = unsafe Number(String(decoding: bytes(of: node), as: UTF8.self)) {
            return number
        }
        guard let number: Number = try real(index).whole() else { throw Self.mismatch }
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

extension Double {
    /// Returns the number if it is whole and small enough that no other whole number is rounded to it.
    func whole<Number: FixedWidthInteger>() -> Number? {
        magnitude < 0x1p53 ? Number(exactly: self) : nil
    }
}
