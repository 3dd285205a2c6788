/// Names an object that the checkpoint covers: the kind of its entry, and its id, name or path.
package struct CoveredObject: Hashable, Comparable, Sendable {
    /// The kinds of entries, by their numbers in the file.
    package enum Kind: UInt8, Sendable {
        case project = 1
        case variable = 2
        case account = 3
        case directory = 4
        case journalEntry = 5
    }

    /// What it is.
    package let kind: Kind
    /// Of a project, a variable or a journal entry; zeros for others.
    package let id: Identifier
    /// The name of an account, or the path of a directory; empty for others.
    package let name: String

    init(_ kind: Kind, id: Identifier = Identifier(high: 0, low: 0), name: String = "") {
        (self.kind, self.id, self.name) = (kind, id, name)
    }

    /// A project of the vault.
    package static func project(_ id: Identifier) -> CoveredObject { .init(.project, id: id) }
    /// A variable's record.
    package static func variable(_ id: Identifier) -> CoveredObject { .init(.variable, id: id) }
    /// An account, by its name.
    package static func account(_ name: String) -> CoveredObject { .init(.account, name: name) }
    /// An approved directory, by its path.
    package static func directory(_ path: String) -> CoveredObject {
        .init(.directory, name: path)
    }
    /// An entry of the journal.
    package static func journalEntry(_ id: Identifier) -> CoveredObject {
        .init(.journalEntry, id: id)
    }

    /// The order of entries in the checkpoint.
    package static func < (left: CoveredObject, right: CoveredObject) -> Bool {
        if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
        if left.id != right.id { return left.id < right.id }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    /// Texts are compared by their bytes, as everywhere in the index.
    package static func == (left: CoveredObject, right: CoveredObject) -> Bool {
        left.kind == right.kind && left.id == right.id
            && left.name.utf8.elementsEqual(right.name.utf8)
    }

    /// Hashes what ``==(_:_:)`` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(id)
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
