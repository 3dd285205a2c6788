package import Vault

/// A variable that a pull leaves unchanged, because both sides changed it or because it overlaps
/// another one.
package struct PullConflict: Equatable, Sendable {
    /// The side whose version applies.
    package enum Side: Sendable {
        case vault, vercel
    }

    /// What happened, and which commands resolve it.
    package let note: RecordNote
    /// The vault's record; nil for one that only Vercel has.
    package let variable: Variable?
    /// Vercel's record; nil if it is gone.
    package let record: VercelRecord?
    /// Whether both sides have the same value; nil if not compared.
    package let isValueEqual: Bool?
    /// The sides that can be chosen.
    package let sides: Set<Side>
    /// The records of the vault that Vercel's version would replace.
    private let replaced: [Identifier]

    /// Creates the conflict of a record that changed on both sides.
    init(_ note: RecordNote, of pair: PullPairs.Pair, _ evidence: PullPlan.Evidence) {
        self.note = note
        variable = pair.variable
        record = pair.record
        isValueEqual = pair.variable.flatMap { evidence.equalities[$0.id] }
        replaced = pair.variable.map { [$0.id] } ?? []
        // A value that Vercel did not show cannot replace one of the vault's.
        var isTakable = pair.variable?.remote != nil && !pair.isValueChangedHere
        if let record = pair.record, case .shown = evidence.states[record.id] { isTakable = true }
        sides =
            switch note.way {
            case .either: isTakable ? [.vault, .vercel] : [.vault]
            case .gone: [.vault, .vercel]
            case .removing: [.vercel]
            // Vercel does not show the value.
            case .sending, .overriding: [.vault]
            default: []
            }
    }

    /// Creates the conflict of a step and a record that has part of its scope.
    ///
    /// - Parameter other: nil if the scope is that of another step.
    init(_ note: RecordNote, of step: PullPlan.Step, with other: Variable?) {
        self.note = note
        variable = step.variable
        record = step.record
        isValueEqual = nil
        replaced = [step.variable, other].compactMap { $0?.id }
        // The vault's version would need a push that narrows Vercel's record.
        sides = note.way == .either && other != nil ? [.vercel] : []
    }

    /// Adds the choice of a side to the rules of a pull.
    package func decide(for side: Side, in rules: inout PullPlan.Rules) {
        for id in side == .vault ? variable.map({ [$0.id] }) ?? [] : replaced {
            rules.decisions[id] = side
        }
    }

    /// Returns whether the rules contain the choice of `side`, which is possible.
    func isDecided(by rules: PullPlan.Rules, for side: Side) -> Bool {
        guard sides.contains(side), let variable else { return false }
        return rules.decisions[variable.id] == side
    }
}
