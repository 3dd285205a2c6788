internal import Sealing
package import Vault

/// The effect of copying variables to another target or project, key by key.
package struct CopyPlan {
    /// What happens at the destination.
    package enum EntryAction: String, CaseIterable, Sendable {
        case created, updated, unchanged
        /// The vault has no value to copy.
        case skipped
    }

    package struct Entry {
        /// The record to copy.
        package let record: Variable
        /// The scope of the value at the destination afterwards.
        package let scope: Scope
        package let fate: EntryAction
        /// The length of the value; 0 without one.
        package let byteCount: Int
        /// Whether an empty value replaces one that is not, or that the vault does not have.
        package var isEmptied = false
    }

    /// Sorted by key.
    package let entries: [Entry]
    private let kind: VariableAttributes.Kind?

    /// Returns the keys with one fate.
    package func keys(_ fate: EntryAction) -> [String] {
        entries.filter { $0.fate == fate }.map(\.record.name)
    }

    /// Plans a copy.
    ///
    /// - Parameters:
    ///   - records: One per key, with its scope at the destination.
    ///   - destination: The destination project; nil if it does not exist yet.
    ///   - kind: The type that was asked for; nil for one that is not weaker than the source's.
    ///   - reader: Reads values of the same index.
    package init(
        of records: [(record: Variable, scope: Scope)], to destination: Identifier?,
        as kind: VariableAttributes.Kind? = nil,
        in index: VaultIndex, reader: ValueReader
    ) throws {
        let arena = SecretArena()
        self.kind = kind
        entries = try records.map { record, scope in
            guard let value = try reader.currentValue(of: record, in: arena) else {
                return Entry(record: record, scope: scope, fate: .skipped, byteCount: 0)
            }
            let others = destination.map { index.variables(of: $0, named: record.name) } ?? []
            let holding = others.filter { $0.attributes.scope.overlaps(scope) }
            let holders = try reader.holders(of: value, in: scope, among: others)
            if let holders,
                holders.allSatisfy({ kind ?? $0.attributes.kind == $0.attributes.kind })
            {
                return Entry(
                    record: record, scope: scope, fate: .unchanged, byteCount: value.count)
            }
            let isEmptied =
                try value.count == 0
                && !holding.allSatisfy { try reader.isEmpty($0, in: arena) }
            return Entry(
                record: record, scope: scope, fate: holding.isEmpty ? .created : .updated,
                byteCount: value.count, isEmptied: isEmptied)
        }
    }
}

extension VaultTransaction {
    /// Carries out a plan made with this transaction's index.
    ///
    /// Another target of the same variable gets the same version. A key that the destination never had
    /// gets type, comment and history of its source. An existing record keeps its own, but a type
    /// that is not weaker, and its value becomes an earlier version.
    ///
    /// - Returns: The effects on other records, by key.
    package mutating func apply(
        _ plan: CopyPlan, to destination: Identifier, at time: UInt64
    ) throws -> [(key: String, touched: RecordEdit.Touched)] {
        var touched: [(key: String, touched: RecordEdit.Touched)] = []
        for entry in plan.entries where entry.fate == .created || entry.fate == .updated {
            let edits = try copy(entry, to: destination, plan.wishes(for: entry), at: time)
            touched += edits.flatMap(\.touched).map { (entry.record.name, $0) }
        }
        return touched
    }

    private mutating func copy(
        _ entry: CopyPlan.Entry, to destination: Identifier, _ wishes: AssignmentWishes,
        at time: UInt64
    ) throws -> [RecordEdit] {
        let (source, arena) = (entry.record, SecretArena())
        let others = index.records(of: destination, named: source.name)
        let isSame = source.project == destination
        var wishes = wishes
        if !others.contains(where: { $0.isLive && $0.attributes.scope.overlaps(entry.scope) }) {
            wishes.comment = source.attributes.comment
        }
        let history = History(of: source, in: index).versions
        let isCurrent = { (version: StoredVersion) in version.version == source.currentVersion }
        let isNew = others.isEmpty && !isSame
        let left = isNew ? secrets(besides: source, wishes) : []
        let earlier =
            isNew ? history.filter { !isCurrent($0) && !left.contains($0.version) } : []
        var edits: [RecordEdit] = []
        for version in earlier + history.filter(isCurrent) {
            let value = try values.value(of: source, version, in: arena)
            edits = try value.withBytes { bytes in
                try assign(
                    bytes, as: isSame ? version.version : nil, to: entry.scope, of: source.name,
                    in: destination, wishes, at: isCurrent(version) ? time : version.createdAt)
            }
        }
        return edits
    }

    /// The versions of a record that another one of the variable has as a Secret, and that a copy would
    /// make readable.
    private func secrets(besides source: Variable, _ wishes: AssignmentWishes) -> Set<UInt64> {
        if (wishes.kind ?? source.attributes.kind) == .sensitive { return [] }
        return Set(
            index.records(of: source.project, named: source.name)
                .filter { $0.attributes.kind == .sensitive && $0.id != source.id }
                .flatMap { History(of: $0, in: index).versions.map(\.version) })
    }
}

extension CopyPlan {
    /// What the copy asks of the value at the destination.
    package func wishes(for entry: Entry) -> AssignmentWishes {
        AssignmentWishes(kind: kind, sources: [entry.record])
    }
}
