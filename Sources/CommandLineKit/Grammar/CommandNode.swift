/// One word of the tree of commands.
struct CommandNode: Sendable {
    /// Words from the root to here.
    let path: [String]
    /// The command that ends here.
    var command: CommandSpec?
    /// What may follow, in the order described.
    var children: [CommandNode] = []

    init(path: [String]) {
        self.path = path
    }

    /// The last word.
    var word: String { path.last ?? "" }

    /// Whether help leaves it out: nothing visible ends here or below.
    var isHidden: Bool {
        if let command, !command.isHidden { return false }
        return children.allSatisfy(\.isHidden)
    }

    /// The node one word further.
    func child(_ word: String) -> CommandNode? {
        children.first { $0.word == word }
    }

    /// The node that these words lead to.
    func descendant(_ words: some Sequence<String>) -> CommandNode? {
        var node = self
        for word in words {
            guard let next = node.child(word) else { return nil }
            node = next
        }
        return node
    }

    mutating func insert(_ inserted: CommandSpec, at rest: ArraySlice<String>) {
        guard let word = rest.first else {
            if command == nil { command = inserted }
            return
        }
        let index: Int
        if let found = children.firstIndex(where: { $0.word == word }) {
            index = found
        } else {
            index = children.count
            children.append(CommandNode(path: path + [word]))
        }
        children[index].insert(inserted, at: rest.dropFirst())
    }
}
