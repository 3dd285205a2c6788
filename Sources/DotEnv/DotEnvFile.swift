/// The variables of a text in one dialect.
package struct DotEnvFile: Sendable {
    package let dialect: DotEnvDialect
    /// Every assignment in the order of the text, with duplicates.
    package let entries: [DotEnvEntry]
    /// In the order of the text.
    package let diagnostics: [DotEnvDiagnostic]

    /// The effective assignments, the last one of each name, in the order of the text.
    package var effectiveEntries: [DotEnvEntry] { effectiveIndices.map { entries[$0] } }

    /// The indices in ``entries`` of the effective assignments.
    package var effectiveIndices: [Int] { lastIndices.values.sorted() }

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
