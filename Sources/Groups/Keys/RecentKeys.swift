/// The keys that were used last, with what is derived from them.
///
/// A derived key takes two guarded regions of four mappings each, and the kernel limits the number of
/// mappings: all keys of a long-lived group would not fit.
struct RecentKeys<Key: ~Copyable> {
    final class Holder {
        let key: Key

        init(_ key: consuming Key) { self.key = key }
    }

    private static var limit: Int { 16 }

    /// The most recent one is the last.
    private var items: [(name: EpochName, holder: Holder)] = []

    /// Returns a recent key, or the one that `derive` returns.
    mutating func holder(
        of name: EpochName, orDerivedBy derive: () throws(GroupError) -> Key
    ) throws(GroupError) -> Holder {
        if let place = items.lastIndex(where: { $0.name == name }) {
            let item = items.remove(at: place)
            items.append(item)
            return item.holder
        }
        let holder = Holder(try derive())
        if items.count == Self.limit { items.removeFirst() }
        items.append((name, holder))
        return holder
    }
}
