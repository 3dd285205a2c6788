/// What a text holds in one dialect.
package struct DotEnvFile: Sendable {
    /// The dialect it was read in.
    package let dialect: DotEnvDialect
    /// Every assignment in the order of the text, duplicates included.
    package let entries: [DotEnvEntry]
    /// What its owner should know, in the order of the text.
    package let diagnostics: [DotEnvDiagnostic]

    /// The assignments that count: for each name the last one, in the order of these.
    package var effectiveEntries: [DotEnvEntry] {
        var seen = Set<ExactName>(minimumCapacity: entries.count)
        var kept: [DotEnvEntry] = []
        for entry in entries.reversed() where seen.insert(ExactName(entry.key)).inserted {
            kept.append(entry)
        }
        kept.reverse()
        return kept
    }
}

/// A name that equals another only if all bytes do. Strings are also equal if they merely look the
/// same, such as é in one or in two scalars, which are two names to every program.
struct ExactName: Hashable {
    private let name: String

    init(_ name: String) {
        self.name = name
    }

    static func == (left: ExactName, right: ExactName) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
