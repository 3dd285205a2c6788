/// The header fields of an answer, found whatever the case of their names.
package struct HTTPHeaders: Sendable {
    /// The largest number of fields that is kept.
    package static let maximumCount = 200
    /// The largest size of all names and values together, in bytes.
    package static let maximumByteCount = 64 << 10

    private var fields: [(name: String, value: String)] = []
    private var byteCount = 0

    /// Makes an empty list.
    package init() {}

    /// Makes a list of `fields`; those beyond the bounds are left out.
    package init(_ fields: [(String, String)]) {
        for (name, value) in fields { _ = append(name: name, value: value) }
    }

    /// Appends one field.
    ///
    /// - Returns: False when it does not fit into the bounds; it is left out then.
    package mutating func append(name: String, value: String) -> Bool {
        let size = name.utf8.count + value.utf8.count
        guard fields.count < Self.maximumCount, size <= Self.maximumByteCount - byteCount else {
            return false
        }
        byteCount += size
        fields.append((name.lowercased(), value))
        return true
    }

    /// Appends a field from a line as it came from the server, without its line end.
    ///
    /// - Returns: False when it does not fit into the bounds. A line that is no field is passed
    ///   over, which is not an error.
    package mutating func append(line: some Collection<UInt8>) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex else {
            return true
        }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let name = line[..<colon]
        guard name.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return true }
        let value = line[line.index(after: colon)...].drop(while: isBlank)
        var bytes = Array(value)
        while let last = bytes.last, isBlank(last) || last == 0x0D || last == 0x0A {
            bytes.removeLast()
        }
        return append(
            name: String(decoding: name, as: UTF8.self),
            value: String(decoding: bytes, as: UTF8.self))
    }

    /// Number of fields.
    package var count: Int { fields.count }

    /// The value of the first field called `name`.
    package subscript(name name: String) -> String? {
        let wanted = name.lowercased()
        return fields.first { $0.name == wanted }?.value
    }

    /// The value of the first field called `name`, if it is a whole number that is not negative.
    package func number(_ name: String) -> Int64? {
        guard let text = self[name: name], !text.isEmpty, text.utf8.count <= 18,
            text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
        else { return nil }
        return Int64(text)
    }
}
