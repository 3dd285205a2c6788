/// Identifies an object that the checkpoint covers by the kind of its entry and its id, name or
/// path.
package struct CoveredObject: Hashable, Comparable, Sendable {
    /// The entry kinds, with their numbers in the file.
    package enum Kind: UInt8, Sendable {
        case project = 1
        case variable = 2
        case account = 3
        case directory = 4
        case journalEntry = 5
        case setting = 6
    }

    package let kind: Kind
    /// The id of a project, variable or journal entry; zeros for others.
    package let id: Identifier
    /// The name of an account or setting, or the path of a directory; empty for others.
    package let name: String

    init(_ kind: Kind, id: Identifier = Identifier(high: 0, low: 0), name: String = "") {
        (self.kind, self.id, self.name) = (kind, id, name)
    }

    package static func project(_ id: Identifier) -> CoveredObject { .init(.project, id: id) }
    package static func variable(_ id: Identifier) -> CoveredObject { .init(.variable, id: id) }
    package static func account(_ name: String) -> CoveredObject { .init(.account, name: name) }
    package static func directory(_ path: String) -> CoveredObject {
        .init(.directory, name: path)
    }
    package static func journalEntry(_ id: Identifier) -> CoveredObject {
        .init(.journalEntry, id: id)
    }

    package static func setting(_ name: String) -> CoveredObject { .init(.setting, name: name) }

    /// The order of entries in the checkpoint.
    package static func < (left: CoveredObject, right: CoveredObject) -> Bool {
        if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
        if left.id != right.id { return left.id < right.id }
        return bytesPrecede(left.name, right.name)
    }

    /// Compares strings by their bytes, like all of the index.
    package static func == (left: CoveredObject, right: CoveredObject) -> Bool {
        left.kind == right.kind && left.id == right.id
            && left.name.utf8.elementsEqual(right.name.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(id)
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
