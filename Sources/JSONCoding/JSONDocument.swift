/// JSON text, and where in it each value is.
///
/// The bytes belong to the caller of ``JSONDecoder``; after ``forgetBytes()`` nothing of them can be
/// read any more.
@safe final class JSONDocument {
    /// What a value is.
    enum Kind: UInt8 {
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

    /// - Throws: `DecodingError` for what is not JSON. Whether texts are UTF-8 is seen when they are
    ///   asked for, so that one of them does not hide all others.
    init(_ bytes: UnsafeRawBufferPointer) throws {
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

    /// The error for what is not JSON.
    static var malformed: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "not JSON"))
    }

    private func node(_ index: Int) throws -> Node {
        guard index < nodes.count else { throw Self.malformed }
        return nodes[index]
    }

    private func bytes(of node: Node) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: bytes[Int(node.start)...].prefix(Int(node.count)))
    }

    /// The node behind `index` and all that is inside of it.
    func next(after index: Int) -> Int { index < nodes.count ? Int(nodes[index].next) : index }

    /// How many members or elements the value has, if it is of this kind.
    func count(_ index: Int, of kind: Kind) throws -> Int {
        let node = try node(index)
        guard node.kind == kind else { throw Self.mismatch }
        return Int(node.count)
    }

    func isNull(_ index: Int) -> Bool { index < nodes.count && nodes[index].kind == .null }

    func flag(_ index: Int) throws -> Bool {
        switch try node(index).kind {
        case .yes: true
        case .no: false
        default: throw Self.mismatch
        }
    }

    func text(_ index: Int) throws -> String {
        let node = try node(index)
        let text: String?
        switch node.kind {
        case .text: text = unsafe String(validating: bytes(of: node), as: UTF8.self)
        case .escapedText:
            text = unsafe String(validating: JSONEscapes.resolved(bytes(of: node)), as: UTF8.self)
        default: throw Self.mismatch
        }
        guard let text else { throw Self.mismatch }
        return text
    }

    /// Whether the text is `name`, byte for byte.
    func isText(_ index: Int, _ name: String) -> Bool {
        guard index < nodes.count else { return false }
        let node = nodes[index]
        guard node.kind == .text else { return (try? text(index)) == name }
        guard name.utf8.count == Int(node.count) else { return false }
        return unsafe name.utf8.elementsEqual(bytes(of: node))
    }

    /// A whole number, which may be written with a fraction of zero or an exponent.
    func integer<Number: FixedWidthInteger>(_ index: Int) throws -> Number {
        let node = try node(index)
        guard node.kind == .number else { throw Self.mismatch }
        if let number = unsafe Number(String(decoding: bytes(of: node), as: UTF8.self)) {
            return number
        }
        guard let number = Number(exactly: try real(index)) else { throw Self.mismatch }
        return number
    }

    func real(_ index: Int) throws -> Double {
        let node = try node(index)
        guard node.kind == .number,
            let number = unsafe Double(String(decoding: bytes(of: node), as: UTF8.self)),
            number.isFinite
        else { throw Self.mismatch }
        return number
    }
}
