internal import EnvOperations
internal import EnvSchema
internal import Sealing
internal import Vault

/// Looks at the vault for what a schema declares: names with the index alone, values where they are open.
struct VaultLook {
    private let project: VaultProject
    private let index: VaultIndex
    private let reader: ValueReader?
    private let arena = SecretArena()

    /// - Parameter reader: Nil while the values are locked.
    init(of project: VaultProject, in index: VaultIndex, _ reader: ValueReader?) {
        (self.project, self.index, self.reader) = (project, index, reader)
    }

    /// The targets and custom environments of the project's variables; Vercel's three for a project
    /// without variables.
    var targets: [String] {
        var fixed: Scope.Targets = []
        var custom: Set<String> = []
        for variable in index.variables(of: project.id) {
            fixed.formUnion(variable.attributes.scope.targets)
            custom.formUnion(variable.attributes.scope.customEnvironments)
        }
        let all = fixed.names + custom.sorted()
        return all.isEmpty ? Scope.Targets.all.names : all
    }

    /// The names of the custom environments of the project's variables.
    var customEnvironments: [String] {
        targets.filter { Scope.Targets(name: $0) == nil }
    }

    /// Returns what the vault has for a target.
    func look(at target: String, branch: String? = nil) -> SchemaLook {
        let place = ValueTarget(named: target, branch: branch)
        let positions = EffectiveVariables.positions(in: place, of: project.id, in: index)
        let found = Dictionary(
            positions.map { (index.variables[$0].name, $0) },
            uniquingKeysWith: { first, _ in first })
        return SchemaLook(side: .vault, target: target, keys: Set(found.keys)) { item in
            guard let position = found[item.key] else { return .missing }
            let variable = index.variables[position]
            return .init(
                try content(of: variable, item), kind: variable.attributes.kind)
        }
    }

    private func content(
        of variable: Variable, _ item: SchemaItem
    ) throws -> SchemaCheck.Presence.Content {
        guard variable.currentVersion > 0 else { return .withoutValue }
        guard let reader else { return .unread }
        guard let value = try reader.currentValue(of: variable, in: arena) else {
            return .withoutValue
        }
        return SchemaLook.content(of: value, item)
    }
}
