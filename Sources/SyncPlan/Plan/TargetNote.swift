/// Something that a plan says about one target.
package struct TargetNote<Reason: Hashable & Sendable>: Hashable, Sendable {
    package let target: Target
    package let reason: Reason
    /// The id of the record that carries the key in the target, as listed; nil for none.
    package let record: String?

    init(_ target: Target, _ reason: Reason, in state: KeyState) {
        (self.target, self.reason) = (target, reason)
        record = state.record(in: target).map { state.records[$0].id }
    }
}
