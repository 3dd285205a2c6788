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

    /// Returns the keys with one fate.
    package func keys(_ fate: EntryAction) -> [String] {
        entries.filter { $0.fate == fate }.map(\.record.name)
    }

    /// Plans a copy.
    ///
    /// - Parameters:
    ///   - records: One per key, with its scope at the destination.
    ///   - destination: The destination project; nil if it does not exist yet.
    ///   - reader: Reads values of the same index.
    package init(
        of records: [(record: Variable, scope: Scope)], to destination: Identifier?,
        in index: VaultIndex, reader: ValueReader
    ) throws {
        let arena = SecretArena()
        entries = try records.map { record, scope in
            guard let value = try reader.currentValue(of: record, in: arena) else {
                return Entry(record: record, scope: scope, fate: .skipped, byteCount: 0)
            }
            let others = destination.map { index.variables(of: $0, named: record.name) } ?? []
            let holding = others.filter { $0.attributes.scope.overlaps(scope) }
            if try reader.holder(of: value, in: scope, among: others) != nil {
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
    /// A new record gets type, comment and history of its source. An existing one keeps its own, but
    /// a type that is not weaker, and its value becomes an earlier version.
    ///
    /// - Returns: The effects on other records, by key.
    package mutating func apply(
        _ plan: CopyPlan, to destination: Identifier, at time: UInt64
    ) throws -> [(key: String, touched: RecordEdit.Touched)] {
        let arena = SecretArena()
        var touched: [(key: String, touched: RecordEdit.Touched)] = []
        for entry in plan.entries where entry.fate == .created || entry.fate == .updated {
            let source = entry.record
            let history = History(of: source, in: index).versions
            let edit = assign(
                entry.scope, to: source.name, of: destination, source: source.attributes.kind,
                at: time)
            touched += edit.touched.map { (source.name, $0) }
            if edit.isNew, edit.touched.isEmpty {
                index.variables[edit.position].attributes.comment = source.attributes.comment
            }
            for version in edit.isNew ? history : Array(history.suffix(1)) {
                let value = try values.value(of: source, version, in: arena)
                let isCurrent = version.version == source.currentVersion
                try value.withBytes { bytes in
                    _ = try store(
                        bytes, forVariableAt: edit.position,
                        at: isCurrent ? time : version.createdAt)
                }
            }
        }
        return touched
    }
}
