/// Reads JSON (RFC 8259) into types that are `Decodable`, where it lies: only texts that a type asks
/// for are copied.
///
/// Foundation has one too, which brings a quarter of the installed program along. Whatever the bytes
/// are, it throws at worst: ``JSONError`` for what is not JSON, else what the type throws. Its errors never quote what was read: answers hold values of variables.
package struct JSONDecoder {
    package init() {}

    /// Reads one value, with nothing but blanks around it.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try unsafe bytes.withUnsafeBytes {
            try unsafe decode(type, from: RawSpan(_unsafeBytes: $0))
        }
    }

    /// The same from memory that stays the caller's, without a copy of it.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: RawSpan) throws -> Value {
        // A decoder that a type keeps must not read what is no longer there, and does not.
        try JSONTree.read(bytes) { try Value(from: JSONValueDecoder(tree: $0, node: 0)) }
    }
}

/// Hands one value of a tree to its type.
struct JSONValueDecoder: Decoder {
    let tree: JSONTree
    let node: Int

    // Where an error was is not told, so that nobody counts on it: paths are made of what was read.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try JSONKeyedContainer<Key>(tree, node))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try JSONUnkeyedContainer(tree, node)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { tree.isNull(node) }
    func decode(_ type: Bool.Type) throws -> Bool { try tree.flag(node) }
    func decode(_ type: String.Type) throws -> String { try tree.text(node) }
    func decode(_ type: Double.Type) throws -> Double { try tree.real(node) }
    func decode(_ type: Float.Type) throws -> Float { Float(try tree.real(node)) }
    func decode(_ type: Int.Type) throws -> Int { try tree.integer(node) }
    func decode(_ type: Int8.Type) throws -> Int8 { try tree.integer(node) }
    func decode(_ type: Int16.Type) throws -> Int16 { try tree.integer(node) }
    func decode(_ type: Int32.Type) throws -> Int32 { try tree.integer(node) }
    func decode(_ type: Int64.Type) throws -> Int64 { try tree.integer(node) }
    func decode(_ type: UInt.Type) throws -> UInt { try tree.integer(node) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try tree.integer(node) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try tree.integer(node) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try tree.integer(node) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try tree.integer(node) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}
