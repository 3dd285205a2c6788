package import Vault

/// The changes in an edited text, planned completely before anything changes.
package struct EditPlan: Equatable {
    package enum Change: String, Sendable {
        case created, updated, removed
    }

    package struct Step: Equatable {
        package let key: String
        package let change: Change
        package let scope: Scope
        /// The record that it changes; nil for a new key.
        package let record: Variable?
        /// The scope in which that record keeps its old value; nil if nothing is left.
        package var left: Scope? {
            guard let rest = record?.attributes.scope.subtracting(scope), !rest.isEmpty else {
                return nil
            }
            return rest
        }
    }

    /// The records from which a text was created.
    package struct Base: Equatable {
        /// Records whose values are in the text.
        package var shown: [Variable]
        /// Records of the same scope whose values are not in the text.
        package var hidden: [Variable]
        /// All live records of the project.
        package var all: [Variable]

        package init(shown: [Variable], hidden: [Variable], all: [Variable]) {
            self.shown = shown
            self.hidden = hidden
            self.all = all
        }

        /// Returns a base with the newer records of `keys`. All other keys keep the records that
        /// the text was created from, so that other people's changes to them are not undone.
        package func rebased(on newer: Base, for keys: Set<String>) -> Base {
            func joined(_ old: [Variable], _ new: [Variable]) -> [Variable] {
                old.filter { !keys.contains($0.name) } + new.filter { keys.contains($0.name) }
            }
            return Base(
                shown: joined(shown, newer.shown), hidden: joined(hidden, newer.hidden),
                all: newer.all)
        }
    }

    /// The scope that changes apply to.
    package struct Place: Equatable {
        /// The requested scope; nil to change a record in all of its scope.
        package let wanted: Scope?
        /// The scope of a new record if the key has others elsewhere.
        package let besides: Scope

        package init(wanted: Scope?, besides: Scope) {
            self.wanted = wanted
            self.besides = besides
        }
    }

    /// The changes in the order of the text, with removals last.
    package let steps: [Step]
    package let unchanged: [String]

    /// Plans the changes of a text with `keys`.
    ///
    /// - Parameter isEqual: Returns whether the key at that index has the value that was shown for
    ///   the record.
    package init(
        keys: [String], base: Base, place: Place, isEqual: (Int, Variable) throws -> Bool
    ) rethrows {
        var (steps, unchanged): ([Step], [String]) = ([], [])
        let shown = Dictionary(firstOf: base.shown.map { ($0.name, $0) })
        let hidden = Dictionary(firstOf: base.hidden.map { ($0.name, $0) })
        let known = Set(base.all.map(\.name))
        for (number, key) in keys.enumerated() {
            if let record = shown[key], try isEqual(number, record) {
                unchanged.append(key)
            } else if let record = shown[key] ?? hidden[key] {
                let scope = place.wanted ?? record.attributes.scope
                steps.append(Step(key: key, change: .updated, scope: scope, record: record))
            } else {
                let scope =
                    place.wanted
                    ?? (known.contains(key) ? place.besides : Scope(targets: .all))
                steps.append(Step(key: key, change: .created, scope: scope, record: nil))
            }
        }
        let found = Set(keys)
        for record in base.shown where !found.contains(record.name) {
            let scope = place.wanted ?? record.attributes.scope
            steps.append(Step(key: record.name, change: .removed, scope: scope, record: record))
        }
        self.steps = steps
        self.unchanged = unchanged
    }

    /// Returns the changes of one kind.
    package func steps(_ change: Change) -> [Step] { steps.filter { $0.change == change } }

    /// Returns the keys whose records changed since the plan was made.
    ///
    /// - Parameter records: The project's current records, including removed ones.
    package func conflicts(with records: [Variable]) -> [String] {
        steps.filter { step in
            guard let planned = step.record else {
                return records.contains {
                    $0.isLive && $0.name == step.key && $0.attributes.scope.overlaps(step.scope)
                }
            }
            guard let now = records.first(where: { $0.id == planned.id }) else { return true }
            return !now.isLive || now.name != planned.name
                || now.currentVersion != planned.currentVersion
                || now.attributes.scope != planned.attributes.scope
        }.map(\.key)
    }
}
