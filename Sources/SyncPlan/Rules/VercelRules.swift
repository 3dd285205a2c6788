extension ValueType {
    package static let plain = ValueType(number: 0, isReadable: true)
    package static let encrypted = ValueType(number: 1, isReadable: true)
    package static let sensitive = ValueType(number: 2, isReadable: false)
}

/// Vercel's rules for one variable's records.
package struct VercelRules: RecordRules {
    private let production: TargetSet
    private let development: TargetSet
    /// Previews of one branch each.
    private let branches: TargetSet
    /// Whether the team requires sensitive variables outside development.
    private let requiresSensitive: Bool
    /// Whether the team requires of a sensitive production value that it has a record, and a value, of
    /// its own.
    private let separatesProduction: Bool

    /// Custom environments need no mention: Vercel has no rule for them alone.
    package init(
        production: Target, development: Target, branches: TargetSet = [],
        requiresSensitive: Bool = false, separatesProduction: Bool = false
    ) {
        self.production = [production]
        self.development = [development]
        self.branches = branches
        self.requiresSensitive = requiresSensitive
        self.separatesProduction = separatesProduction
    }

    package func allows(_ targets: TargetSet, of type: ValueType) -> Bool {
        if targets.count > 1, !targets.isDisjoint(with: branches) { return false }
        if !type.isReadable {
            // Vercel takes development alone or refuses it, as the team has it.
            if targets.count > 1, !targets.isDisjoint(with: development) { return false }
            if separatesProduction, targets.count > 1, !targets.isDisjoint(with: production) {
                return false
            }
        } else if requiresSensitive, !targets.isSubset(of: development) {
            return false
        }
        return true
    }

    package func canChange(_ type: ValueType, to other: ValueType) -> Bool {
        type.isReadable || !other.isReadable
    }

    package func refused(of candidates: TargetSet, in outcome: [Content?]) -> TargetSet {
        guard separatesProduction, let production = production.heaviest,
            let own = outcome[production.position], !own.type.isReadable
        else { return [] }
        let sharing = outcome.indices.map(Target.init).filter {
            $0 != production && outcome[$0.position]?.version == own.version
        }
        if sharing.isEmpty { return [] }
        // Either side would be refused, whichever is sent last.
        return candidates.intersection(TargetSet(sharing).union([production]))
    }
}
