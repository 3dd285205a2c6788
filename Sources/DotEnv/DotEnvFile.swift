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
        var seen = Set<String>(minimumCapacity: entries.count)
        var kept: [DotEnvEntry] = []
        for entry in entries.reversed() where seen.insert(entry.key).inserted {
            kept.append(entry)
        }
        kept.reverse()
        return kept
    }
}
