struct JSONKeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: JSONNode

    var codingPath: [any CodingKey] { [] }

    private func member(_ key: Key) -> JSONValueEncoder {
        JSONValueEncoder(place: place.member(key.stringValue))
    }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) {
        member(key).encode(value)
    }
    func encode(_ value: some Encodable, forKey key: Key) throws {
        try member(key).encode(value)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> { member(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONValueEncoder(place: place) }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

struct JSONUnkeyedWriter: UnkeyedEncodingContainer {
    let place: JSONNode

    var codingPath: [any CodingKey] { [] }
    var count: Int {
        if case .array(let elements)? = place.content { elements.count } else { 0 }
    }

    private func element() -> JSONValueEncoder { JSONValueEncoder(place: place.append()) }

    func encodeNil() { element().encodeNil() }
    func encode(_ value: Bool) { element().encode(value) }
    func encode(_ value: String) { element().encode(value) }
    func encode(_ value: Double) throws { try element().encode(value) }
    func encode(_ value: Float) throws { try element().encode(value) }
    func encode(_ value: some FixedWidthInteger & Encodable) { element().encode(value) }
    func encode(_ value: some Encodable) throws { try element().encode(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        element().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    func superEncoder() -> any Encoder { element() }
}
