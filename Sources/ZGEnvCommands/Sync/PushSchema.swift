internal import CommandLineKit
internal import EnvOperations
internal import EnvSchema
internal import Vault

/// What the schema says of a push: lines for its plan, or a refusal if the push must fit it.
struct PushSchema {
    /// Lines for the plan.
    private(set) var lines: [String] = []

    /// - Parameters:
    ///   - requires: Whether the command requires that the vault fits the schema.
    /// - Throws: ``ExitCode/usage`` if it must fit and does not.
    init(
        _ plan: PushPlan, of project: VaultProject, in index: VaultIndex, places: Scope?,
        requires: Bool, _ workspace: Workspace
    ) throws {
        let advice = try SchemaAdvice.find(
            for: project, in: index, requires: requires, isWork: true, workspace)
        guard let advice else { return }
        var reader: ValueReader?
        // Types need values, which a push that must fit opens anyway.
        let keys =
            try advice.isRequired
            ? workspace.session.keys(.values) : workspace.session.bestKeysWithoutPrompt()
        if keys.opensValues {
            let vault = try workspace.session.opened()
            reader = try ValueReader(
                vault: vault, index: try vault.index(with: keys, extent: .currentValues), keys: keys
            )
        }
        let look = VaultLook(of: project, in: index, reader)
        let targets = places.map { $0.targets.names + $0.customEnvironments } ?? look.targets
        let problems = try advice.problems(targets.map { look.look(at: $0) })
        try advice.require(problems, of: project.name, "Nothing was sent.")
        if let line = advice.line(problems) { lines.append(line) }
        for step in plan.steps where !step.isDeletion {
            guard let item = advice.items[step.key] else { continue }
            if item.isInternal {
                lines.append(
                    "\(step.key) is declared internal, so it does not have to be on Vercel")
            }
            if let deprecation = item.deprecation {
                let advice = deprecation.advice.map { ": \($0)" } ?? ""
                lines.append("\(step.key) is declared deprecated\(advice)")
            }
            if item.makesSensitive, ValueWarning.hasPublicPrefix(step.key) {
                lines.append("\(step.key) is declared sensitive, but its prefix makes it public")
            }
            if item.isSensitive == false, item.sensitivitySource != .implicit,
                step.attributes.kind == .encrypted
            {
                lines.append(
                    "\(step.key) is declared public (zg-env set \(word: step.key) --type plain makes it readable)"
                )
            }
        }
    }
}
