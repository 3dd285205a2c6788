package import Vault

/// What an edited text changes: planned as a whole before anything changes.
package struct EditPlan: Equatable {
    /// What happens to a key.
    package enum Change: String, Sendable {
        case created, updated, removed
    }

    /// One change.
    package struct Step: Equatable {
        /// The key.
        package let key: String
        /// What happens to it.
        package let change: Change
        /// The scope that the change is for.
        package let scope: Scope
        /// The record that it was planned on; nil for a new key.
        package let record: Variable?
        /// What that record keeps with its old value; nil where nothing is left.
        package var left: Scope? {
            guard let rest = record?.attributes.scope.subtracting(scope), !rest.isEmpty else {
                return nil
            }
            return rest
        }
    }

    /// The records that a text was made of.
    package struct Base: Equatable {
        /// Records whose values stand in the text.
        package var shown: [Variable]
        /// Records of the same place whose values do not.
        package var hidden: [Variable]
        /// Every record in use of the project.
        package var all: [Variable]

        /// Names them all.
        package init(shown: [Variable], hidden: [Variable], all: [Variable]) {
            self.shown = shown
            self.hidden = hidden
            self.all = all
        }

        /// Takes over what became of some keys meanwhile. Of the others the text still says what it
        /// was made of, so a change of theirs by somebody else is not undone.
        package func rebased(on newer: Base, for keys: Set<String>) -> Base {
            func joined(_ old: [Variable], _ new: [Variable]) -> [Variable] {
                old.filter { !keys.contains($0.name) } + new.filter { keys.contains($0.name) }
            }
            return Base(
                shown: joined(shown, newer.shown), hidden: joined(hidden, newer.hidden),
                all: newer.all)
        }
    }

    /// Where changes apply.
    package struct Place: Equatable {
        /// The scope that was named; nil to change a record in all of its scope.
        package let wanted: Scope?
        /// The scope of a new record of a key that has others elsewhere.
        package let besides: Scope

        /// Names both.
        package init(wanted: Scope?, besides: Scope) {
            self.wanted = wanted
            self.besides = besides
        }
    }

    /// The changes, in the order of the text; removals last.
    package let steps: [Step]
    /// Keys that stay as they are.
    package let unchanged: [String]

    /// Plans what a text with `keys` changes.
    ///
    /// - Parameter isEqual: Whether the key with that number has the value the record was shown with.
    package init(
        keys: [String], base: Base, place: Place, isEqual: (Int, Variable) throws -> Bool
    ) rethrows {
        var (steps, unchanged): ([Step], [String]) = ([], [])
        let shown = Dictionary(base.shown.map { ($0.name, $0) }) { first, _ in first }
        let hidden = Dictionary(base.hidden.map { ($0.name, $0) }) { first, _ in first }
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

    /// The changes of one kind.
    package func steps(_ change: Change) -> [Step] { steps.filter { $0.change == change } }

    /// Keys whose records are not any more as they were when this was planned.
    ///
    /// - Parameter records: The project's records of now, removed ones included.
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
