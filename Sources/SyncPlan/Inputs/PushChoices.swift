/// What the user allows and selects for one key.
package struct PushChoices: Equatable, Sendable {
    /// Whether the vault's side replaces what changed on the platform, and what an integration
    /// manages.
    package var force = false
    /// Whether to delete what only the platform has.
    package var prune = false
    /// The targets to plan; nil for all.
    package var targets: TargetSet?

    package init() {}

    func includes(_ target: Target) -> Bool { targets?.contains(target) ?? true }
}
