extension ByteReader {
    /// Reads a u32 number of items, then the items in strictly ascending order.
    ///
    /// - Parameters:
    ///   - what: The items, for the error of a number that is out of range.
    ///   - key: The sort key, compared instead of the items because these may be large.
    ///   - reason: The error for items in another order.
    mutating func ascending<T, Key>(
        _ what: StaticString, limit: Int, minimumByteCount: Int,
        _ decode: (inout ByteReader) throws(VaultError) -> T, by key: (T) -> Key,
        _ precedes: (Key, Key) -> Bool, else reason: @autoclosure () -> String
    ) throws(VaultError) -> [T] {
        let count = try count(limit: limit, minimumByteCount: minimumByteCount, of: what)
        var items: [T] = []
        items.reserveCapacity(count)
        var last: Key?
        for _ in 0..<count {
            let item = try decode(&self)
            let next = key(item)
            if let last, !precedes(last, next) { throw VaultError(damaged: .order, reason()) }
            last = next
            items.append(item)
        }
        return items
    }
}
