/// What a platform allows one record to be. The only part of a plan that knows the platform.
package protocol RecordRules: Sendable {
    /// Returns whether a record of that type may carry all these targets.
    func allows(_ targets: TargetSet, of type: ValueType) -> Bool

    /// Returns whether a record of the one type can become the other without being deleted.
    func canChange(_ type: ValueType, to other: ValueType) -> Bool

    /// Returns the targets among `candidates` whose wishes the platform would refuse, because of the
    /// values that the other targets would have.
    ///
    /// - Parameter outcome: What each target would have, by position.
    func refused(of candidates: TargetSet, in outcome: [Content?]) -> TargetSet
}

extension RecordRules {
    /// Returns the heaviest allowed part of a set, by taking its targets one after the other.
    func carried(of targets: TargetSet, with present: TargetSet = [], of type: ValueType)
        -> TargetSet
    {
        if allows(present.union(targets), of: type) { return targets }
        var carried = TargetSet()
        for target in targets {
            if allows(present.union(carried).union([target]), of: type) { carried.insert(target) }
        }
        return carried
    }
}
