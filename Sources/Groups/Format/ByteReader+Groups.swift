internal import Sealing
package import Vault

extension ByteReader {
    /// Runs `body`, which must read all of an object, and translates errors.
    package static func decode<R>(
        _ object: [UInt8], skipping count: Int = 0, of what: StaticString,
        _ body: (inout ByteReader) throws(VaultError) -> R
    ) throws(GroupError) -> R {
        do throws(VaultError) {
            return try object.withBytes { (bytes) throws(VaultError) in
                try ByteReader.read(bytes) { (reader) throws(VaultError) in
                    _ = try reader.section(count)
                    let result = try body(&reader)
                    try reader.expectEnd(of: what)
                    return result
                }
            }
        } catch { throw GroupError(error) }
    }

    /// Reads a list whose items are strictly ascending by `key`.
    package mutating func ascending<T, Key: Comparable>(
        limit: Int, least: Int, of what: StaticString, by key: (T) -> Key,
        _ item: (inout ByteReader) throws(VaultError) -> T
    ) throws(VaultError) -> [T] {
        let count = try count(limit: limit, minimumByteCount: least, of: what)
        var items: [T] = []
        items.reserveCapacity(count)
        for _ in 0..<count {
            let next = try item(&self)
            if let last = items.last {
                try require(key(last) < key(next), .order, "\(what) are not in order")
            }
            items.append(next)
        }
        return items
    }

    /// Reads a list of ascending hashes.
    package mutating func hashes(limit: Int, of what: StaticString) throws(VaultError)
        -> [GroupHash]
    {
        try ascending(
            limit: limit, least: GroupHash.byteCount, of: what, by: { $0 },
            GroupHash.decode(from:))
    }

    /// Reads a list of ascending ids.
    package mutating func identifiers(limit: Int, of what: StaticString) throws(VaultError)
        -> [Identifier]
    {
        try ascending(limit: limit, least: 16, of: what, by: { $0 }) {
            (reader) throws(VaultError) in try reader.identifier()
        }
    }

    /// Reads a string that is not empty.
    package mutating func filledText(limit: Int) throws(VaultError) -> String {
        let text = try text(limit: limit)
        try require(!text.isEmpty, .encoding, "a name is empty")
        return text
    }

    /// Reads a flag, then what `body` reads if it is 1.
    package mutating func optional<T>(
        _ body: (inout ByteReader) throws(VaultError) -> T
    ) throws(VaultError) -> T? {
        try flag() ? try body(&self) : nil
    }

    /// Reads a flag, then an id if it is 1.
    package mutating func optionalIdentifier() throws(VaultError) -> Identifier? {
        try flag() ? try identifier() : nil
    }

    /// Throws damage unless a condition holds.
    package func require(
        _ condition: Bool, _ damage: VaultDamage, _ reason: @autoclosure () -> String
    ) throws(VaultError) {
        guard condition else { throw VaultError(damaged: damage, reason()) }
    }
}

extension ByteWriter {
    package mutating func list<T>(_ items: [T], _ item: (inout ByteWriter, T) -> Void) {
        uint32(UInt32(items.count))
        for element in items { item(&self, element) }
    }

    package mutating func hashes(_ items: [GroupHash]) {
        list(items) { $1.encode(into: &$0) }
    }

    package mutating func identifiers(_ items: [Identifier]) {
        list(items) { $0.identifier($1) }
    }

    package mutating func optional<T>(_ item: T?, _ body: (inout ByteWriter, T) -> Void) {
        flag(item != nil)
        if let item { body(&self, item) }
    }
}
