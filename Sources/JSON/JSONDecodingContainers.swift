/// The members of an object. The first of two members with the same name counts.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let tree: JSONTree
    private let object: Int
    /// Value nodes by name, for objects with too many members for a linear search.
    private let places: [Name: Int]?

    /// A name, compared by its bytes.
    private struct Name: Hashable {
        let text: String

        static func == (left: Name, right: Name) -> Bool {
            left.text.utf8.elementsEqual(right.text.utf8)
        }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private static var fewMembers: Int { 48 }

    init(_ tree: JSONTree, _ object: Int) throws {
        (self.tree, self.object) = (tree, object)
        let count = try tree.count(object, of: .object)
        guard count > Self.fewMembers else {
            places = nil
            return
        }
        var places = [Name: Int](minimumCapacity: count)
        tree.forEachMember(of: object) { name, value in
            guard let name = (try? tree.text(name)).map(Name.init), places[name] == nil else {
                return true
            }
            places[name] = value
            return true
        }
        self.places = places
    }

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        var keys: [Key] = []
        var seen: Set<Name> = []
        tree.forEachMember(of: object) { name, _ in
            if let text = try? tree.text(name), seen.insert(Name(text: text)).inserted,
                let key = Key(stringValue: text)
            {
                keys.append(key)
            }
            return true
        }
        return keys
    }

    private func place(_ key: Key) -> Int? {
        if let places { return places[Name(text: key.stringValue)] }
        var place: Int?
        let wanted = key.stringValue
        tree.forEachMember(of: object) { name, value in
            guard tree.isText(name, wanted) else { return true }
            place = value
            return false
        }
        return place
    }

    private func value(_ key: Key) throws -> JSONValueDecoder {
        guard let place = place(key) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [], debugDescription: "no such member"))
        }
        return JSONValueDecoder(tree: tree, node: place)
    }

    func contains(_ key: Key) -> Bool { place(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try value(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try value(key).decode(type)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try value(key).decode(type)
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key).decode(type) }
    func decode<Number: FixedWidthInteger & Decodable>(
        _ type: Number.Type, forKey key: Key
    ) throws -> Number { try value(key).decode(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try value(key).decode(type)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> { try value(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        JSONValueDecoder(tree: tree, node: object)
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }
}

struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private let tree: JSONTree
    private let elementCount: Int
    private var node: Int
    private(set) var currentIndex = 0

    init(_ tree: JSONTree, _ array: Int) throws {
        self.tree = tree
        elementCount = try tree.count(array, of: .array)
        node = array + 1
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { elementCount }
    var isAtEnd: Bool { currentIndex >= elementCount }

    /// Decodes the next element. If that fails, the element remains the next one.
    private mutating func next<Value>(
        _ read: (JSONValueDecoder) throws -> Value
    ) throws -> Value {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self, .init(codingPath: [], debugDescription: "no more elements"))
        }
        let value = try read(JSONValueDecoder(tree: tree, node: node))
        node = tree.next(after: node)
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, tree.isNull(node) else { return false }
        return try next { _ in true }
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try next { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.decode(type) } }
    mutating func decode<Number: FixedWidthInteger & Decodable>(
        _ type: Number.Type
    ) throws -> Number { try next { try $0.decode(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next { try $0.decode(type) }
    }

    mutating func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> { try next { try $0.container(keyedBy: type) } }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }
    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}
