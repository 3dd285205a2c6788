/// The header fields of a response, with case-insensitive names.
package struct HTTPHeaders: Sendable {
    /// The largest number of fields.
    package static let maximumCount = 200
    /// The largest total size of all names and values, in bytes.
    package static let maximumByteCount = 64 << 10

    private var fields: [(name: String, value: String)] = []
    private var byteCount = 0

    package init() {}

    /// Creates a list of `fields`, dropping those beyond the limits.
    package init(_ fields: [(String, String)]) {
        for (name, value) in fields { _ = append(name: name, value: value) }
    }

    /// Appends a field, or returns false if it exceeds the limits.
    package mutating func append(name: String, value: String) -> Bool {
        let size = name.utf8.count + value.utf8.count
        guard fields.count < Self.maximumCount, size <= Self.maximumByteCount - byteCount else {
            return false
        }
        byteCount += size
        fields.append((name.lowercased(), value))
        return true
    }

    /// Appends the field in a line from the server, with or without its line ending.
    ///
    /// - Returns: False if the field exceeds the limits. A line that is not a field is ignored.
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

    package var count: Int { fields.count }

    /// The value of the first field called `name`.
    package subscript(name name: String) -> String? {
        let wanted = name.lowercased()
        return fields.first { $0.name == wanted }?.value
    }

    /// Returns the value of the first field called `name` if it is a non-negative integer.
    package func number(_ name: String) -> Int64? {
        guard let text = self[name: name], !text.isEmpty, text.utf8.count <= 18,
            text.utf8.allSatisfy(\.isASCIIDigit)
        else { return nil }
        return Int64(text)
    }
}
