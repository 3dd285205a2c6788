/// What a write reports to features besides what it changes in the vault: one part for each feature.
struct News {
    private var parts: [ObjectIdentifier: any NewsPart] = [:]

    /// Returns what was reported to one feature; nil without anything.
    subscript<Part: NewsPart>(_ type: Part.Type) -> Part? {
        parts[ObjectIdentifier(type)] as? Part
    }

    /// Adds a part to what was reported to its feature before.
    mutating func add<Part: NewsPart>(_ part: Part) {
        var sum = self[Part.self]
        sum?.add(part)
        parts[ObjectIdentifier(Part.self)] = sum ?? part
    }

    /// Adds what another part of the same write reports.
    mutating func add(_ other: News) {
        for part in other.parts.values { add(part) }
    }
}

/// The news for one feature, declared beside that feature.
protocol NewsPart {
    /// Adds what another part of the same write reports.
    mutating func add(_ other: Self)
}
