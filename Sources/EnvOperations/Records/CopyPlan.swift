internal import Sealing
package import Vault

/// What a copy of variables to another target or project does, key by key.
package struct CopyPlan {
    /// What happens at the destination.
    package enum Fate: String, CaseIterable, Sendable {
        case created, updated, unchanged
        /// The vault holds no value to copy.
        case skipped
    }

    /// One variable.
    package struct Entry {
        /// The record that is copied.
        package let record: Variable
        /// The scope that its value is for afterwards, at the destination.
        package let scope: Scope
        /// What happens.
        package let fate: Fate
        /// The length of the value; 0 where there is none.
        package let byteCount: Int
    }

    /// In the order of the keys.
    package let entries: [Entry]

    /// The keys of one fate.
    package func keys(_ fate: Fate) -> [String] {
        entries.filter { $0.fate == fate }.map(\.record.name)
    }

    /// Plans a copy.
    ///
    /// - Parameters:
    ///   - records: One a key, with the scope that it gets.
    ///   - destination: The project that the values go to; nil for one that is not there yet.
    ///   - reader: Opens values of the same index.
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
            // A record that holds more than the scope gives programs there the same value already.
            if let only = holding.first, holding.count == 1,
                scope.subtracting(only.attributes.scope).isEmpty, reader.isAccepted(only),
                let old = try reader.currentValue(of: only, in: arena),
                old.withBytes({ old in value.withBytes { old.isEqualInConstantTime(to: $0) } })
            {
                return Entry(
                    record: record, scope: scope, fate: .unchanged, byteCount: value.count)
            }
            return Entry(
                record: record, scope: scope, fate: holding.isEmpty ? .created : .updated,
                byteCount: value.count)
        }
    }
}

extension VaultTransaction {
    /// Does what a plan of this transaction's index says.
    ///
    /// A new record gets type, comment and history of the one it is a copy of; one that is there
    /// keeps its own, and what it held becomes an earlier version.
    ///
    /// - Returns: What happened to further records, by key.
    package mutating func apply(
        _ plan: CopyPlan, to destination: Identifier, at time: UInt64
    ) throws -> [(key: String, touched: RecordEdit.Touched)] {
        guard let reader = values else {
            throw VaultError(.inputOutput, "the values are locked")
        }
        let arena = SecretArena()
        var touched: [(key: String, touched: RecordEdit.Touched)] = []
        for entry in plan.entries where entry.fate == .created || entry.fate == .updated {
            let source = entry.record
            let history = History(of: source, in: index).versions
            let all = index.variables.filter {
                $0.project == destination && $0.name == source.name
            }
            let edit = assign(
                entry.scope, to: source.name, of: destination, records: all,
                kind: source.attributes.kind, at: time)
            touched += edit.touched.map { (source.name, $0) }
            if edit.isNew {
                index.variables[edit.position].attributes.comment = source.attributes.comment
            }
            // Of the history only what is the user's own.
            let accepted = history.filter { index.accepts($0) }
            for version in edit.isNew ? accepted : Array(accepted.suffix(1)) {
                let value = try reader.value(of: source, version, in: arena)
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
