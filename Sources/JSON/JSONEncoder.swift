/// Encodes `Encodable` types as JSON, keeping the order in which members are written.
package struct JSONEncoder {
    package init() {}

    /// - Throws: `EncodingError` for a number without a JSON form, such as infinity.
    package func encode(_ value: some Encodable) throws -> [UInt8] {
        let place = JSONNode()
        try value.encode(to: JSONValueEncoder(place: place))
        var writer = JSONWriter(to: ByteBuffer())
        try place.write(to: &writer)
        return try writer.finish().bytes
    }
}

/// A value under construction.
final class JSONNode {
    enum Content {
        case text(String)
        /// A number or keyword, already in JSON syntax.
        case word(String)
        case array([JSONNode])
        case object([(name: String, place: JSONNode)])
    }

    /// Nil if nothing was encoded, which is written as an empty object.
    var content: Content?

    func append() -> JSONNode {
        let place = JSONNode()
        if case .array(var elements)? = content {
            // Emptied first, so that appending does not copy the array.
            content = nil
            elements.append(place)
            content = .array(elements)
        } else {
            content = .array([place])
        }
        return place
    }

    func member(_ name: String) -> JSONNode {
        let place = JSONNode()
        if case .object(var members)? = content {
            content = nil
            members.append((name, place))
            content = .object(members)
        } else {
            content = .object([(name, place)])
        }
        return place
    }

    func write(to json: inout JSONWriter<ByteBuffer>) throws(OutputError) {
        switch content {
        case .text(let text): try json.string(text)
        case .word(let word): try json.literal(word)
        case .array(let elements):
            try json.beginArray()
            for element in elements { try element.write(to: &json) }
            try json.endArray()
        case .object(let members):
            try json.beginObject()
            for member in members {
                try json.name(member.name)
                try member.place.write(to: &json)
            }
            try json.endObject()
        case nil:
            try json.beginObject()
            try json.endObject()
        }
    }
}

/// Encodes one value into a ``JSONNode``.
struct JSONValueEncoder: Encoder {
    let place: JSONNode

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if place.content == nil { place.content = .object([]) }
        return KeyedEncodingContainer(JSONKeyedWriter<Key>(place: place))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if place.content == nil { place.content = .array([]) }
        return JSONUnkeyedWriter(place: place)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    private func real(_ value: Double) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "not representable in JSON"))
        }
        place.content = .word("\(value)")
    }
}

extension JSONValueEncoder: SingleValueEncodingContainer {
    func encodeNil() { place.content = .word("null") }
    func encode(_ value: Bool) { place.content = .word(value ? "true" : "false") }
    func encode(_ value: String) { place.content = .text(value) }
    func encode(_ value: Double) throws { try real(value) }
    func encode(_ value: Float) throws { try real(Double(value)) }
    func encode(_ value: some FixedWidthInteger & Encodable) { place.content = .word("\(value)") }
    func encode(_ value: some Encodable) throws { try value.encode(to: self) }
}
