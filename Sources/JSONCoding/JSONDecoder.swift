/// Reads JSON (RFC 8259) into types that are `Decodable`, where it lies: only texts that a type asks
/// for are copied.
///
/// Foundation has one too, which brings a quarter of the installed program along. Whatever the bytes
/// are, it throws at worst. Its errors never quote what was read: answers hold values of variables.
package struct JSONDecoder {
    /// How many objects and arrays may be inside of each other.
    package static let maximumDepth = 512

    package init() {}

    /// Reads one value, with nothing but blanks around it.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try unsafe bytes.withUnsafeBytes { try unsafe decode(type, from: $0) }
    }

    /// Reads one value, with nothing but blanks around it, from memory that stays the caller's. It
    /// takes as much as eight times the size for the places of what it found, and no copy.
    package func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer
    ) throws -> Value {
        let document = unsafe try JSONDocument(bytes)
        // A decoder that a type keeps must not read what is no longer there.
        defer { document.forgetBytes() }
        return try Value(from: JSONValueDecoder(document: document, node: 0))
    }
}

/// Hands one value of a document to its type.
struct JSONValueDecoder: Decoder {
    let document: JSONDocument
    let node: Int

    // Where an error was is not told, so that nobody counts on it: paths are made of what was read.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try JSONKeyedContainer<Key>(document, node))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try JSONUnkeyedContainer(document, node)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.isNull(node) }
    func decode(_ type: Bool.Type) throws -> Bool { try document.flag(node) }
    func decode(_ type: String.Type) throws -> String { try document.text(node) }
    func decode(_ type: Double.Type) throws -> Double { try document.real(node) }
    func decode(_ type: Float.Type) throws -> Float { Float(try document.real(node)) }
    func decode(_ type: Int.Type) throws -> Int { try document.integer(node) }
    func decode(_ type: Int8.Type) throws -> Int8 { try document.integer(node) }
    func decode(_ type: Int16.Type) throws -> Int16 { try document.integer(node) }
    func decode(_ type: Int32.Type) throws -> Int32 { try document.integer(node) }
    func decode(_ type: Int64.Type) throws -> Int64 { try document.integer(node) }
    func decode(_ type: UInt.Type) throws -> UInt { try document.integer(node) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try document.integer(node) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try document.integer(node) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try document.integer(node) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try document.integer(node) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}
