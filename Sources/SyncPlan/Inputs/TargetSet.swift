/// A place where a value is used, such as production, by its position in the caller's list.
///
/// The list names each target of one binding once, heaviest first: if a target has to be without its
/// value for a moment, it is a light one.
package struct Target: Hashable, Comparable, Sendable {
    package let position: Int

    package init(_ position: Int) { self.position = position }

    package static func < (one: Target, other: Target) -> Bool { one.position < other.position }
}

/// A set of targets. Works for any number of them, and allocates nothing for the first 64: a proof
/// makes millions of plans.
package struct TargetSet: Hashable, Sendable {
    private var low: UInt64 = 0
    /// The bits from position 64 on; the last word is never 0.
    private var high: [UInt64] = []

    package init() {}

    package init(_ targets: some Sequence<Target>) {
        for target in targets { insert(target) }
    }

    package var isEmpty: Bool { low == 0 && high.isEmpty }

    package var count: Int { high.reduce(low.nonzeroBitCount) { $0 + $1.nonzeroBitCount } }

    /// The heaviest target; nil if the set is empty.
    package var heaviest: Target? {
        if low != 0 { return Target(low.trailingZeroBitCount) }
        guard let word = high.firstIndex(where: { $0 != 0 }) else { return nil }
        return Target(64 * (word + 1) + high[word].trailingZeroBitCount)
    }

    package func contains(_ target: Target) -> Bool {
        let (word, bit) = target.position.quotientAndRemainder(dividingBy: 64)
        let bits = word == 0 ? low : word <= high.count ? high[word - 1] : 0
        return bits & 1 << bit != 0
    }

    package mutating func insert(_ target: Target) {
        let (word, bit) = target.position.quotientAndRemainder(dividingBy: 64)
        if word == 0 {
            low |= 1 << bit
        } else {
            while high.count < word { high.append(0) }
            high[word - 1] |= 1 << bit
        }
    }

    package func union(_ other: TargetSet) -> TargetSet { combined(other, |) }
    package func intersection(_ other: TargetSet) -> TargetSet { combined(other, &) }
    package func subtracting(_ other: TargetSet) -> TargetSet { combined(other) { $0 & ~$1 } }
    package func isDisjoint(with other: TargetSet) -> Bool { intersection(other).isEmpty }
    package func isSubset(of other: TargetSet) -> Bool { subtracting(other).isEmpty }

    private func combined(_ other: TargetSet, _ combine: (UInt64, UInt64) -> UInt64) -> TargetSet {
        var result = TargetSet()
        result.low = combine(low, other.low)
        guard !high.isEmpty || !other.high.isEmpty else { return result }
        result.high = (0..<Swift.max(high.count, other.high.count)).map { word in
            combine(
                word < high.count ? high[word] : 0, word < other.high.count ? other.high[word] : 0)
        }
        while result.high.last == 0 { result.high.removeLast() }
        return result
    }
}

extension TargetSet: Sequence, ExpressibleByArrayLiteral {
    /// Iterates over the targets, heaviest first.
    package struct Iterator: IteratorProtocol {
        fileprivate var rest: TargetSet

        package mutating func next() -> Target? {
            guard let target = rest.heaviest else { return nil }
            rest = rest.subtracting([target])
            return target
        }
    }

    package init(arrayLiteral targets: Target...) {
        for target in targets { insert(target) }
    }

    package func makeIterator() -> Iterator { Iterator(rest: self) }
}
