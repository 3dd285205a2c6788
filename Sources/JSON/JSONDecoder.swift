/// Decodes JSON (RFC 8259) into `Decodable` types without copying the input; only the strings that
/// a type requests are copied.
///
/// Used instead of Foundation's decoder, which would add a quarter to the installed program.
/// Invalid input throws ``JSONError``; otherwise errors come from the decoded type. Errors never
/// quote the input, because responses contain values of variables.
package struct JSONDecoder {
    package init() {}

    /// Decodes a single value, which only whitespace may surround.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try unsafe bytes.withUnsafeBytes {
            try unsafe decode(type, from: RawSpan(_unsafeBytes: $0))
        }
    }

    /// Decodes from memory owned by the caller, without copying it.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: RawSpan) throws -> Value {
        // A decoder that outlives this call cannot read freed memory: the tree forgets the bytes.
        try JSONTree.read(bytes) { try Value(from: JSONValueDecoder(tree: $0, node: 0)) }
    }
}

/// Decodes one node of a tree.
struct JSONValueDecoder: Decoder {
    let tree: JSONTree
    let node: Int

    // Always empty, so that no caller relies on it: a path would be built from the input.
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
    func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        try tree.integer(node)
    }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}
