extension Array {
    /// Returns the element with a key, of an array that is ascending by it.
    func first<Key: Comparable>(withKey key: Key, by keyOf: (Element) -> Key) -> Element? {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let found = keyOf(self[middle])
            if found == key { return self[middle] }
            range =
                found < key ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}
