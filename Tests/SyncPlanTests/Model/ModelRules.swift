import SyncPlan

/// What the model platform accepts: Vercel's rules, written a second time.
struct ModelRules {
    var production = Target(0)
    var development = Place.development
    var branches: TargetSet = []
    var requiresSensitive = false
    var separatesProduction = false
    /// Whether this is another platform, of which each record has one target.
    var hasSingleTargets = false

    /// The same rules as the planner has them.
    var planned: any RecordRules {
        if hasSingleTargets { return SingleTargetRules() }
        return VercelRules(
            production: production, development: development, branches: branches,
            requiresSensitive: requiresSensitive, separatesProduction: separatesProduction)
    }

    func allows(_ targets: TargetSet, of type: ValueType) -> Bool {
        guard !targets.isEmpty else { return false }
        if targets.count == 1 {
            return !requiresSensitive || !type.isReadable || targets == [development]
        }
        if hasSingleTargets || targets.contains(where: branches.contains) { return false }
        if type.isReadable { return !requiresSensitive }
        return !targets.contains(development)
            && !(separatesProduction && targets.contains(production))
    }

    /// Returns whether a record cannot be written because of another one's value. A value that the
    /// vault cannot know does not count: no plan foresees that.
    func forbids(_ record: ModelPlatform.Record, beside other: ModelPlatform.Record) -> Bool {
        separatesProduction && !record.type.isReadable && record.targets.contains(production)
            && record.value == other.value && (other.isOurs || other.type.isReadable)
    }
}

/// A platform like a repository's secrets: a record has one target, and nothing is shown.
struct SingleTargetRules: RecordRules {
    func allows(_ targets: TargetSet, of type: ValueType) -> Bool { targets.count == 1 }
    func canChange(_ type: ValueType, to other: ValueType) -> Bool {
        type.isReadable || !other.isReadable
    }
    func refused(of candidates: TargetSet, in outcome: [Content?]) -> TargetSet { [] }
}
