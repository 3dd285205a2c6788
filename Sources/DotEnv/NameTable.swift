/// Finds the last statement of each name, without copying names: a text may hold secrets where some
/// reader sees a name.
struct NameTable {
    private let text: SourceText
    let statements: [Statement]
    /// Indices into `statements` plus one, 0 for free; a power of two in size, at most half full.
    private var slots: [Int32]

    init(_ text: SourceText, _ statements: [Statement]) {
        self.text = text
        self.statements = statements
        var size = 16
        while size < statements.count * 2 { size *= 2 }
        slots = [Int32](repeating: 0, count: size)
        for (index, statement) in statements.enumerated() {
            slots[slot(of: statement)] = Int32(truncatingIfNeeded: index + 1)
        }
    }

    /// Where the name is, or would be.
    private func slot(of statement: Statement) -> Int {
        var slot = text.hash(statement.key, statement.keyEncoding) & (slots.count - 1)
        while slots[slot] != 0 {
            let other = statements[Int(slots[slot]) - 1]
            if text.decodesEqually(
                statement.key, statement.keyEncoding, other.key, other.keyEncoding)
            {
                return slot
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    /// The last statement with the name of `statement`.
    func last(like statement: Statement) -> (index: Int, statement: Statement)? {
        let index = Int(slots[slot(of: statement)]) - 1
        return index >= 0 ? (index, statements[index]) : nil
    }
}
