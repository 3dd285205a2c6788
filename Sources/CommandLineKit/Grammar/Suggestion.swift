/// Suggestions for mistyped words.
package enum Suggestion {
    /// The maximum length of a compared word, in bytes.
    static let maximumLength = 64

    /// Returns the candidate nearest to a word, or nil if none is near.
    ///
    /// Near means one typo per three letters, at least one; swapped neighbors are one typo. Without
    /// such a candidate it returns the only one that starts with the word. The first of equals wins.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let typed = lowercased(word)
        guard !typed.isEmpty, typed.count <= maximumLength else { return nil }
        let allowed = max(1, typed.count / 3)
        let near = candidates.filter { $0.utf8.count <= maximumLength }
            .map { (word: $0, distance: editDistance(typed, lowercased($0))) }
            // A short word with every letter wrong is not a typo.
            .filter { $0.distance <= allowed && $0.distance < typed.count }
        if let best = near.min(by: { $0.distance < $1.distance }) { return best.word }
        guard typed.count >= 2 else { return nil }
        let longer = candidates.filter { lowercased($0).starts(with: typed) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// Whether one insertion, deletion, replacement or swap of neighbors turns one word into the other.
    package static func isOneTypo(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        abs(first.count - second.count) <= 1 && editDistance(first, second) == 1
    }

    /// Returns the minimum number of insertions, deletions, replacements and swaps of neighbors that
    /// turn one word into the other, where no byte is edited twice (optimal string alignment).
    static func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var beforePrevious = [Int](repeating: 0, count: second.count + 1)
        var previous = Array(0...second.count)
        var current = previous
        for row in first.indices {
            current[0] = row + 1
            for column in second.indices {
                let replaced = previous[column] + (first[row] == second[column] ? 0 : 1)
                var least = min(previous[column + 1] + 1, current[column] + 1, replaced)
                if row > 0, column > 0, first[row] == second[column - 1],
                    first[row - 1] == second[column]
                {
                    least = min(least, beforePrevious[column - 1] + 1)
                }
                current[column + 1] = least
            }
            (beforePrevious, previous, current) = (previous, current, beforePrevious)
        }
        return previous[second.count]
    }

    private static func lowercased(_ word: String) -> [UInt8] {
        word.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }
}
