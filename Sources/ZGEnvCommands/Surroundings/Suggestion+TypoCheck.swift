internal import CommandLineKit

extension Suggestion {
    /// Whether one inserted, missing, wrong or swapped letter in one part of at least four letters (three
    /// for a swap) turns `name` into `known`. Digits must agree: `KEY_1` and `KEY_2` are two names, and so
    /// are `DB_A` and `DB_B`.
    static func isTypo(_ known: String, for name: String, shortest: Int = 4) -> Bool {
        func parts(_ text: String) -> [[UInt8]] {
            let separators = Array("_-.".utf8)
            let bytes = Array(text.lowercased().utf8)
            return bytes.split { separators.contains($0) }.map { Array($0) }
        }
        let (first, second) = (parts(known), parts(name))
        guard first.count == second.count, first != second else { return false }
        let differing = zip(first, second).filter { $0 != $1 }
        guard differing.count == 1, let (old, new) = differing.first else { return false }
        func digits(_ word: [UInt8]) -> [UInt8] { word.filter { (0x30...0x39).contains($0) } }
        // Words of three letters are near too many others, except for a swap.
        let shortest = old.sorted() == new.sorted() ? 3 : shortest
        guard min(old.count, new.count) >= shortest, max(old.count, new.count) <= 64,
            digits(old) == digits(new)
        else { return false }
        return isOneTypo(old, new)
    }
}
