/// What the user allows and selects for one key.
package struct PushChoices: Equatable, Sendable {
    /// Whether the vault's side replaces what changed on the platform, what an integration manages,
    /// and what has to be deleted and created again to become readable.
    package var force = false
    /// The targets where what only the platform has, without a wish or an agreement, is deleted.
    package var pruned: TargetSet = []
    /// The targets to plan; nil for all.
    package var targets: TargetSet?

    package init() {}

    func includes(_ target: Target) -> Bool { targets?.contains(target) ?? true }
}
