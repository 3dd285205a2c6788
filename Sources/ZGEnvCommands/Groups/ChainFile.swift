internal import SharedProjects
internal import SystemFiles
internal import Vault

/// Remembers the chains of a vault file in the state directory: a line with compartment, chain and
/// counter for each. A file that cannot be read or written only makes the vault begin new chains.
struct ChainFile: ChainMemory {
    private let path: String?

    /// - Parameters:
    ///   - vault: The vault's id.
    ///   - path: The vault's path: a copy elsewhere has chains of its own.
    init(_ context: Context, vault: Identifier, path: String) {
        let anchor = RollbackGuards(context, path: path).file(of: vault)
        self.path = anchor.map { $0.dropLast(".anchor".count) + ".chains" }
    }

    func position(in compartment: Identifier) -> ChainPosition? { all[compartment] }

    func keep(_ position: ChainPosition, in compartment: Identifier) {
        guard let path else { return }
        var positions = all
        positions[compartment] = position
        let text = positions.sorted { $0.key < $1.key }.map {
            "\($0.key.hexadecimal) \($0.value.chain.hexadecimal) \($0.value.counter)\n"
        }.joined()
        try? PrivateFile.write(Array(text.utf8), to: path, replaces: true, durably: false)
    }

    private var all: [Identifier: ChainPosition] {
        guard let path, let bytes = SmallFile.bytes(path) else { return [:] }
        var found: [Identifier: ChainPosition] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let compartment = Self.identifier(words[0]),
                let chain = Self.identifier(words[1]), let counter = UInt64(words[2])
            else { continue }
            found[compartment] = ChainPosition(chain: chain, counter: counter)
        }
        return found
    }

    private static func identifier(_ text: Substring) -> Identifier? {
        Hexadecimal.bytes(of: String(text)).flatMap { Identifier($0) }
    }
}
