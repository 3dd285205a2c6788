/// What a text holds in one dialect.
package struct DotEnvFile: Sendable {
    /// The dialect it was read in.
    package let dialect: DotEnvDialect
    /// Every assignment in the order of the text, duplicates included.
    package let entries: [DotEnvEntry]
    /// What its owner should know, in the order of the text.
    package let diagnostics: [DotEnvDiagnostic]

    /// The assignments that count: for each name the last one, in the order of these.
    package var effectiveEntries: [DotEnvEntry] { effectiveIndices.map { entries[$0] } }

    /// Where in ``entries`` the assignments stand that count.
    package var effectiveIndices: [Int] {
        var seen = Set<ExactName>(minimumCapacity: entries.count)
        var kept: [Int] = []
        for index in entries.indices.reversed()
        where seen.insert(ExactName(entries[index].key)).inserted {
            kept.append(index)
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
        // Most names are equal as strings or not at all; the bytes decide where they only look equal.
        left.name == right.name && left.name.utf8.elementsEqual(right.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
