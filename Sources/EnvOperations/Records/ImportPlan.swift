package import Vault

/// The effect of importing each variable of some files, planned completely before anything changes.
package struct ImportPlan: Equatable {
    package enum EntryAction: String, Sendable {
        case created, updated, unchanged, skipped
    }

    /// What to do with an existing key.
    package enum ConflictRule: String, CaseIterable, Sendable {
        case overwrite, skip, fail
    }

    /// A variable of one file.
    package struct Candidate {
        package let key: String
        /// The scope that the options or the file name; nil to keep that of the key's only record.
        package let wanted: Scope?
        /// The new comment; nil to keep that of the record.
        package let comment: String?

        package init(key: String, wanted: Scope?, comment: String? = nil) {
            (self.key, self.wanted, self.comment) = (key, wanted, comment)
        }
    }

    package struct Entry: Equatable {
        /// The index of the candidate.
        package let number: Int
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

    /// In the order of the keys in the files.
    package let entries: [Entry]
    /// The candidates that have no place left, as later ones have all their targets.
    package let replaced: Set<Int>
    /// Whether values could be compared.
    package let compared: Bool

    /// Returns the keys with one fate, each once.
    package func keys(_ fate: EntryAction) -> [String] {
        var seen: Set<String> = []
        return entries.filter { $0.fate == fate && seen.insert($0.key).inserted }.map(\.key)
    }

    /// Plans the import of `candidates`. In each place the last candidate of a key wins.
    ///
    /// - Parameters:
    ///   - candidates: In the order of the files, and of the lines in each of them.
    ///   - records: The records of the project, including removed ones, by key.
    ///   - kind: The type that was asked for.
    ///   - isEqual: Returns whether the candidate at that index has the record's value; nil if the
    ///     values are locked.
    package init(
        candidates: [Candidate], records: [String: [Variable]],
        rule: ConflictRule, kind: VariableAttributes.Kind? = nil,
        standard: (String) -> VariableAttributes.Kind = { _ in .encrypted },
        isEqual: ((Int, Variable) throws -> Bool)?
    ) throws {
        let placing = Placing(candidates, records, kind, standard)
        if !placing.ambiguous.isEmpty { throw Refusal.ambiguous(placing.ambiguous) }
        var entries: [Entry] = []
        var conflicts: [String] = []
        for (number, scope) in placing.places {
            let key = candidates[number].key
            let existing = (records[key] ?? []).filter(\.isLive)
            let holding = existing.filter { $0.attributes.scope.overlaps(scope) }
            if holding.isEmpty {
                entries.append(Entry(number: number, key: key, fate: .created, scope: scope))
                continue
            }
            // Records with more targets have the value there too.
            let holders = existing.holding(scope) ?? []
            let isSame =
                try !holders.isEmpty && holders.allSatisfy { try isEqual?(number, $0) ?? false }
            if isSame, holders.allSatisfy({ kind ?? $0.attributes.kind == $0.attributes.kind }) {
                let comment = candidates[number].comment
                let tellsMore =
                    comment != nil && holders.contains { $0.attributes.comment != comment }
                let isUpdated = tellsMore && rule == .overwrite
                // A comment is one of a whole record.
                let all = holders.reduce(into: scope) { $0.formUnion($1.attributes.scope) }
                entries.append(
                    Entry(
                        number: number, key: key,
                        fate: isUpdated ? .updated : .unchanged,
                        scope: isUpdated ? all : scope, keepsValue: true))
                continue
            }
            let keepsValue =
                isSame
                && holders.allSatisfy { $0.attributes.scope.subtracting(scope).isEmpty }
            switch rule {
            case .overwrite:
                let before = holding.map(\.attributes.kind).strictest
                entries.append(
                    Entry(
                        number: number, key: key, fate: .updated, scope: scope,
                        keepsValue: keepsValue, before: before))
            case .skip:
                entries.append(Entry(number: number, key: key, fate: .skipped, scope: scope))
            case .fail: conflicts.append(key)
            }
        }
        if !conflicts.isEmpty { throw Refusal.conflict(conflicts) }
        self.entries = entries
        replaced = placing.replaced
        compared = isEqual != nil
    }

    /// Which candidate gets which places.
    private struct Placing {
        private(set) var places: [(number: Int, scope: Scope)] = []
        private(set) var replaced: Set<Int> = []
        private(set) var ambiguous: [String] = []

        init(
            _ candidates: [Candidate], _ records: [String: [Variable]],
            _ kind: VariableAttributes.Kind?, _ standard: (String) -> VariableAttributes.Kind
        ) {
            var numbers: [String: [Int]] = [:]
            var keys: [String] = []
            for (number, candidate) in candidates.enumerated() {
                if numbers[candidate.key]?.append(number) == nil {
                    numbers[candidate.key] = [number]
                    keys.append(candidate.key)
                }
            }
            for key in keys {
                let numbers = numbers[key] ?? []
                let before = places.count
                var taken: [Scope] = []
                func rest(of scope: Scope) -> Scope {
                    taken.reduce(scope) { $0.subtracting($1) }
                }
                let existing = (records[key] ?? []).filter(\.isLive)
                for number in numbers.reversed() {
                    var scope: Scope
                    if let wanted = candidates[number].wanted {
                        scope = wanted
                    } else if existing.isEmpty {
                        scope = Scope.standard(
                            kind, among: records[key] ?? [], standard: standard(key))
                    } else {
                        let open = existing.map(\.attributes.scope).filter {
                            !rest(of: $0).isEmpty
                        }
                        guard open.count <= 1 else {
                            ambiguous.append(key)
                            break
                        }
                        scope = open.first ?? Scope(targets: [])
                    }
                    scope = rest(of: scope)
                    if scope.isEmpty {
                        replaced.insert(number)
                    } else {
                        places.insert((number, scope), at: before)
                        taken.append(scope)
                    }
                }
            }
        }
    }
}
