/// Finds the last statement of each name without copying names, because what one parser reads as a
/// name may be a secret.
struct NameTable {
    private let text: SourceText
    let statements: [Statement]
    /// The hash of each statement's name, valid in all tables of a text.
    let hashes: [Int]
    /// Indices into `statements` plus one, 0 for free; a power of two in size, at most half full.
    private var slots: [Int32]

    init(_ text: SourceText, _ statements: [Statement]) {
        self.text = text
        self.statements = statements
        hashes = statements.map { text.hash($0.key, $0.keyEncoding) }
        var size = 16
        while size < statements.count * 2 { size *= 2 }
        slots = [Int32](repeating: 0, count: size)
        for (index, statement) in statements.enumerated() {
            slots[slot(of: statement, hashes[index])] = Int32(truncatingIfNeeded: index + 1)
        }
    }

    /// Returns the slot of the name, or where it would be.
    private func slot(of statement: Statement, _ hash: Int) -> Int {
        var slot = hash & (slots.count - 1)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            let other = statements[index]
            if hashes[index] == hash,
                text.decodesEqually(
                    statement.key, statement.keyEncoding, other.key, other.keyEncoding)
            {
                return slot
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    /// Returns the index of the last statement with the name of `statement`, whose hash is `hash`.
    func lastIndex(like statement: Statement, _ hash: Int) -> Int? {
        let index = Int(slots[slot(of: statement, hash)]) - 1
        return index >= 0 ? index : nil
    }

    /// Returns whether a statement is the last of its name.
    func isLast(_ index: Int) -> Bool {
        lastIndex(like: statements[index], hashes[index]) == index
    }

    /// Returns the last statement with the name of one in another table of the same text.
    func last(like index: Int, of table: NameTable) -> Statement? {
        lastIndex(like: table.statements[index], table.hashes[index]).map { statements[$0] }
    }
}
