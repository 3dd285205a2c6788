extension DotEnvFile {
    /// Returns the references of effective entries to other names of the file, such as `$NAME` or
    /// `${NAME}`, which only an expansion replaces: each name once for an entry.
    package func references(in source: RawSpan) -> [(key: String, name: String)] {
        let names = lastIndices
        var work = 0
        var found: [(key: String, name: String)] = []
        source.withText { text in
            for index in indicesWithoutPieces {
                let entry = entries[index]
                guard work < Self.maximumWork, text.contains(Byte.dollar, in: entry.valueRange),
                    dialect != .compose || text[entry.valueRange.lowerBound - 1] != Byte.singleQuote
                else { continue }
                var open = [
                    ReferenceScanner(
                        DecodedBytes(text, entry.valueRange, entry.encoding), count: .max)
                ]
                var known: Set<ExactName> = [ExactName(entry.key)]
                while var scanner = open.popLast() {
                    while work + scanner.work < Self.maximumWork, let piece = scanner.next() {
                        guard case .reference(let reference) = piece else { continue }
                        let name = ExactName(reference.name)
                        if names[name] != nil, known.insert(name).inserted {
                            found.append((entry.key, reference.name))
                        }
                        if let fallback = reference.fallback { open.append(fallback) }
                    }
                    work += scanner.work + 1
                }
            }
        }
        return found
    }

    /// The most bytes read by a search for references.
    private static var maximumWork: Int { 64 << 20 }
}
