/// The variables of a text in one dialect.
package struct DotEnvFile: Sendable {
    package let dialect: DotEnvDialect
    /// Every assignment in the order of the text, with duplicates.
    package let entries: [DotEnvEntry]
    /// In the order of the text.
    package let diagnostics: [DotEnvDiagnostic]
    /// The indices of entries that are a part of the value above them, which a line break cuts.
    let pieces: Set<Int>

    /// The effective assignments, the last one of each name, in the order of the text.
    package var effectiveEntries: [DotEnvEntry] { effectiveIndices.map { entries[$0] } }

    /// The indices in ``entries`` of the effective assignments.
    package var effectiveIndices: [Int] { lastIndices.values.sorted() }

    /// The indices of the effective assignments without those that are a part of a cut value, which
    /// every parser reads as names, although the author meant them as part of the value.
    package var indicesWithoutPieces: [Int] {
        if pieces.isEmpty { return effectiveIndices }
        let last = Dictionary(
            entries.enumerated().filter { !pieces.contains($0.offset) }
                .map { (ExactName($1.key), $0) }
        ) { $1 }
        return last.values.sorted()
    }

    /// The index of the last entry of each name.
    var lastIndices: [ExactName: Int] {
        Dictionary(entries.enumerated().map { (ExactName($1.key), $0) }) { $1 }
    }
}

/// A name compared by its bytes. Strings also equal canonical equivalents, such as é in one or two
/// scalars, which are two names to every program.
struct ExactName: Hashable {
    private let name: String

    init(_ name: String) {
        self.name = name
    }

    static func == (left: ExactName, right: ExactName) -> Bool {
        // The bytes decide only if the strings are equal.
        left.name == right.name && left.name.utf8.elementsEqual(right.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
