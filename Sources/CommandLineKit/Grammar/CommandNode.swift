/// A node in the tree of command words.
struct CommandNode: Sendable {
    /// The words from the root to this node.
    let path: [String]
    /// The command with this path.
    var command: CommandSpec?
    /// The nodes of the next word, in the order of the spec.
    var children: [CommandNode] = []

    var word: String { path.last ?? "" }

    /// Whether this node and all nodes below it are without a visible command.
    var isHidden: Bool {
        if let command, !command.isHidden { return false }
        return children.allSatisfy(\.isHidden)
    }

    func child(_ word: String) -> CommandNode? {
        children.first { $0.word == word }
    }

    func descendant(_ words: some Sequence<String>) -> CommandNode? {
        words.reduce(self as CommandNode?) { $0?.child($1) }
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
