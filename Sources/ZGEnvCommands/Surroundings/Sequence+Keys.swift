extension Sequence {
    /// Returns the elements without those whose key an earlier element has.
    func unique<Key: Hashable>(by key: (Element) -> Key) -> [Element] {
        var seen: Set<Key> = []
        return filter { seen.insert(key($0)).inserted }
    }

    /// Returns the elements by a key; of several with the same, the first.
    func keyed<Key: Hashable>(by key: (Element) -> Key) -> [Key: Element] {
        Dictionary(map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
    }
}
