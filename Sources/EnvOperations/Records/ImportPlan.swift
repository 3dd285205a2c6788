package import Vault

/// The effect of importing each key of a file, planned completely before anything changes.
package struct ImportPlan: Equatable {
    package enum EntryAction: String, Sendable {
        case created, updated, unchanged, skipped
    }

    /// What to do with an existing key.
    package enum ConflictRule: String, CaseIterable, Sendable {
        case overwrite, skip, fail
    }

    package struct Entry: Equatable {
        package let key: String
        package let fate: EntryAction
        /// The scope of the value.
        package let scope: Scope
        /// Whether only the comment or the type changes, without a new version.
        package var keepsValue = false
        /// The strictest type that the key has in this scope; nil for a new value.
        package var before: VariableAttributes.Kind?
    }

    /// Why nothing can be imported.
    package enum Refusal: Error, Equatable {
        /// The keys have several values, and no target selects one.
        case ambiguous([String])
        /// The keys exist, and the rule is to fail.
        case conflict([String])
    }

    /// In the order of the file.
    package let entries: [Entry]
    /// Whether values could be compared.
    package let compared: Bool

    /// Returns the keys with one fate.
    package func keys(_ fate: EntryAction) -> [String] {
        entries.filter { $0.fate == fate }.map(\.key)
    }

    /// Plans the import of `keys`.
    ///
    /// - Parameters:
    ///   - records: The records of the project, including removed ones, by key.
    ///   - wanted: The requested scope; nil to keep that of the key's only record.
    ///   - comments: The new comments by key; other keys keep theirs.
    ///   - kind: The type that was asked for.
    ///   - isEqual: Returns whether the key at that index has the record's value; nil if the values
    ///     are locked.
    package init(
        keys: [String], records: [String: [Variable]], wanted: Scope?,
        rule: ConflictRule, comments: [String: String] = [:],
        kind: VariableAttributes.Kind? = nil,
        isEqual: ((Int, Variable) throws -> Bool)?
    ) throws {
        var entries: [Entry] = []
        var (ambiguous, conflicts): ([String], [String]) = ([], [])
        for (number, key) in keys.enumerated() {
            let all = records[key] ?? []
            let existing = all.filter(\.isLive)
            if wanted == nil && existing.count > 1 {
                ambiguous.append(key)
                continue
            }
            let scope =
                wanted ?? existing.first?.attributes.scope
                ?? Inheritance.standardScope(kind, among: all)
            let holding = existing.filter { $0.attributes.scope.overlaps(scope) }
            if holding.isEmpty {
                entries.append(Entry(key: key, fate: .created, scope: scope))
                continue
            }
            // A record with more targets has the value there too.
            let holder = existing.holding(scope)
            let isSame = try holder.flatMap { try isEqual?(number, $0) } ?? false
            if let holder, isSame, kind ?? holder.attributes.kind == holder.attributes.kind {
                let comment = comments[key]
                let tellsMore = comment != nil && comment != holder.attributes.comment
                let isUpdated = tellsMore && rule == .overwrite
                entries.append(
                    Entry(
                        key: key, fate: isUpdated ? .updated : .unchanged,
                        scope: isUpdated ? holder.attributes.scope : scope, keepsValue: true))
                continue
            }
            let keepsValue = isSame && holder?.attributes.scope == scope
            switch rule {
            case .overwrite:
                let before = holding.map(\.attributes.kind).max { $0.strictness < $1.strictness }
                entries.append(
                    Entry(
                        key: key, fate: .updated, scope: scope, keepsValue: keepsValue,
                        before: before))
            case .skip: entries.append(Entry(key: key, fate: .skipped, scope: scope))
            case .fail: conflicts.append(key)
            }
        }
        if !ambiguous.isEmpty { throw Refusal.ambiguous(ambiguous) }
        if !conflicts.isEmpty { throw Refusal.conflict(conflicts) }
        self.entries = entries
        compared = isEqual != nil
    }
}
