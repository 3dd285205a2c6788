internal import JSON

/// Finds repeated texts by their hashes, of which nobody can tell the texts.
struct SeenTexts {
    private let isUsed: Bool
    private var hashes: Set<Int> = []
    private(set) var hasRepetition = false
    private(set) var isIncomplete = false

    init(isUsed: Bool) { self.isUsed = isUsed }

    var count: Int { hashes.count }

    mutating func insert(_ text: ValueSlice) {
        guard isUsed else { return }
        var hasher = Hasher()
        unsafe text.withBytes { unsafe hasher.combine(bytes: $0) }
        if !hashes.insert(hasher.finalize()).inserted { hasRepetition = true }
    }

    /// Arrays and objects are not compared.
    mutating func insert(_ tree: JSONTree, _ node: Int) {
        guard isUsed else { return }
        guard tree.kind(node) != .array, tree.kind(node) != .object else {
            isIncomplete = true
            return
        }
        tree.withText(of: node) { insert($0) }
    }
}
