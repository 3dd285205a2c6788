package import Vault

/// What becomes of each key of a file: planned as a whole before anything changes.
package struct ImportPlan: Equatable {
    /// What happens to one key.
    package enum Fate: String, Sendable {
        case created, updated, unchanged, skipped
    }

    /// What to do with a key that is there already.
    package enum ConflictRule: String, CaseIterable, Sendable {
        case overwrite, skip, fail
    }

    /// One key.
    package struct Entry: Equatable {
        /// The key.
        package let key: String
        /// What happens to it.
        package let fate: Fate
        /// The scope its value is for.
        package let scope: Scope
        /// Whether only what is said about the variable changes, and no version is made.
        package let keepsValue: Bool

        init(key: String, fate: Fate, scope: Scope, keepsValue: Bool = false) {
            self.key = key
            self.fate = fate
            self.scope = scope
            self.keepsValue = keepsValue
        }
    }

    /// Why nothing can be imported.
    package enum Refusal: Error, Equatable {
        /// The keys have several values, and no target says which is meant.
        case ambiguous([String])
        /// The keys are there, and the rule says to fail.
        case conflict([String])
    }

    /// The keys in the order of the file.
    package let entries: [Entry]
    /// Tells whether values could be compared.
    package let compared: Bool

    /// The keys of one fate.
    package func keys(_ fate: Fate) -> [String] {
        entries.filter { $0.fate == fate }.map(\.key)
    }

    /// Plans the import of `keys`.
    ///
    /// - Parameters:
    ///   - records: The records in use of the project, by key.
    ///   - wanted: The scope named; nil to keep that of the key's only record.
    ///   - standard: The scope of a new record where none is named.
    ///   - comments: What is to be said about a key; the others keep what they have.
    ///   - isEqual: Whether the key with that number has the value that the record holds; nil when
    ///     values are locked.
    package init(
        keys: [String], records: [String: [Variable]], wanted: Scope?, standard: Scope,
        rule: ConflictRule, comments: [String: String] = [:],
        isEqual: ((Int, Variable) throws -> Bool)?
    ) throws {
        var entries: [Entry] = []
        var (ambiguous, conflicts): ([String], [String]) = ([], [])
        for (number, key) in keys.enumerated() {
            let existing = records[key] ?? []
            if wanted == nil && existing.count > 1 {
                ambiguous.append(key)
                continue
            }
            let scope = wanted ?? existing.first?.attributes.scope ?? standard
            let holding = existing.filter { $0.attributes.scope.overlaps(scope) }
            if holding.isEmpty {
                entries.append(Entry(key: key, fate: .created, scope: scope))
                continue
            }
            let exact = holding.first { $0.attributes.scope == scope }
            if let exact, let isEqual, try isEqual(number, exact) {
                let comment = comments[key]
                let tellsMore = comment != nil && comment != exact.attributes.comment
                let isUpdated = tellsMore && rule == .overwrite
                entries.append(
                    Entry(
                        key: key, fate: isUpdated ? .updated : .unchanged, scope: scope,
                        keepsValue: true))
                continue
            }
            switch rule {
            case .overwrite: entries.append(Entry(key: key, fate: .updated, scope: scope))
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
