internal import CommandLineKit
internal import Sealing
internal import Vault

/// The value of a variable for the screen, opened and audited as by `reveal`, and always kept in
/// guarded memory.
struct WatchedValue {
    let name: String
    private let value: SecretSlice

    /// Asks for the passphrase unless the settings say otherwise, and opens one value. Removes the
    /// values' keys from the session afterwards.
    init(_ id: Identifier, in project: VaultProject, _ workspace: Workspace) throws {
        defer { try? workspace.session.keepIndexTierOnly() }
        let (record, value) = try workspace.revealed(
            id, in: project, command: Reveal.spec.name)
        (name, self.value) = (record.name, value)
    }

    /// Returns the terminal output for the value in the given rows, cut at their end. Control
    /// characters appear as hexadecimal escapes.
    ///
    /// - Returns: The output, and whether it contains the whole value.
    func painted(
        rows: Range<Int>, columns: Int
    ) throws(SealingError) -> (bytes: SecretBox, isWhole: Bool) {
        let box = SecretBox(try SecretBuffer(capacity: 16 << 10))
        var (row, column) = (rows.lowerBound, 0)
        var isWhole = true
        func go() throws(SealingError) {
            try box.append("\u{1B}[\(row + 1);1H")
            column = 0
        }
        try go()
        try value.withBytes { (bytes) throws(SealingError) in
            var place = 0
            while place < bytes.byteCount {
                guard row < rows.upperBound else {
                    isWhole = false
                    return
                }
                let character = ValueCharacter(bytes, at: place)
                if character.scalar == "\n" {
                    (place, row) = (place + 1, row + 1)
                    if row < rows.upperBound { try go() }
                    continue
                }
                if column + character.width > columns, column > 0 {
                    row += 1
                    if row < rows.upperBound { try go() }
                    continue
                }
                try character.append(to: box, from: bytes)
                (place, column) = (place + character.length, column + character.width)
            }
        }
        return (box, isWhole)
    }
}
