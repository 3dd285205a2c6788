/// Something that a plan says about one target.
package struct TargetNote<Reason: Hashable & Sendable>: Hashable, Sendable {
    package let target: Target
    package let reason: Reason

    init(_ target: Target, _ reason: Reason) { (self.target, self.reason) = (target, reason) }
}
