internal import CommandLineKit
internal import EnvOperations
internal import EnvSchema
internal import Vault

/// Looks at the sides of a check and compares them with the schema.
struct CheckWork {
    let schema: SchemaOptions
    let scope: ScopeOptions
    /// The variables to check; nil for all.
    let keys: Set<String>?
    /// Where to look; empty for the vault.
    let sides: [SchemaResult.Side]
    let isStrict: Bool

    func run(in workspace: Workspace) throws -> CommandResult {
        let wanted = try scope.targetNames()
        let keysOfVault = try workspace.session.bestKeysWithoutPrompt()
        let vault = try workspace.session.opened()
        let index = try vault.index(
            with: keysOfVault, extent: keysOfVault.opensValues ? .currentValues : .listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        let schema = try ProjectSchema.required(self.schema, for: project, in: index, workspace)
        try checkKeys(schema, wanted)
        let reader = try ValueReader(vault: vault, index: index, keys: keysOfVault)
        let own = VaultLook(of: project, in: index, reader)
        let sides = SchemaResult.Side.allCases.filter {
            self.sides.isEmpty ? $0 == .vault : self.sides.contains($0)
        }
        var looks: [SchemaLook] = []
        var listed: ListedRecords = []
        if sides.contains(.vault) {
            looks += (wanted.names ?? own.targets).map { own.look(at: $0, branch: wanted.branch) }
        }
        var environments = own.customEnvironments
        if sides.contains(.vercel) || sides.contains(.live) {
            let remote = try VercelLook(
                try LinkedProject.inVault(workspace), workspace)
            environments = remote.customEnvironments
            listed = remote.records
            try check(wanted.names ?? [], against: environments, own, project)
            if sides.contains(.vercel) {
                looks += (wanted.names ?? own.targets).map {
                    remote.look(at: $0, branch: wanted.branch)
                }
            }
            if sides.contains(.live) {
                looks += try liveTargets(wanted.names).map {
                    try remote.liveLook(at: $0, branch: wanted.branch)
                }
            }
        }
        let mapping = EnvironmentMapping(
            customEnvironments: environments, settings: index.schemaEnvironments)
        let results = try looks.flatMap {
            try $0.results(schema, mapping, only: keys, isStrict: isStrict)
        }
        let notes = try notes(of: schema, targets: looks.map(\.target), mapping)
        return CheckReport(
            schema: schema, results: results, notes: notes,
            typesAreChecked: reader != nil && sides.contains(.vault),
            isLocked: reader == nil && sides.contains(.vault), isStrict: isStrict,
            project: project.name, listed: listed
        ).result(workspace)
    }

    /// Returns the targets whose deployments to look at: without `-t` production.
    private func liveTargets(_ names: [String]?) throws -> [String] {
        guard let names else { return ["production"] }
        guard !names.contains("development") else {
            throw CommandError(
                .usage, "Development has no deployments.",
                hint: "Leave out -t development or --on live.")
        }
        return names
    }

    /// Refuses keys that are neither declared nor known: a typo must not count as checked.
    private func checkKeys(
        _ schema: ProjectSchema, _ wanted: (names: [String]?, branch: String?)
    ) throws {
        guard let keys else { return }
        let declared = Set(
            try (wanted.names ?? Scope.Targets.all.names).flatMap {
                try schema.schema(for: $0).items.map(\.key)
            })
        guard let unknown = keys.subtracting(declared).min() else { return }
        let near = Suggestion.nearest(to: unknown, among: Array(declared))
        throw CommandError(
            .notFound, "\(schema.path) does not declare \(unknown).",
            hint: near.map { "Did you mean \($0)?" })
    }

    private func check(
        _ names: [String], against environments: [String], _ own: VaultLook, _ project: VaultProject
    ) throws {
        let known = Set(Scope.Targets.all.names + environments + own.customEnvironments)
        guard let unknown = names.first(where: { !known.contains($0) }) else { return }
        throw CommandError(
            .usage, "\(project.name) has no custom environment \(unknown).",
            hint: environments.isEmpty
                ? nil : "Custom environments: \(environments.sorted().joined(separator: ", ")).")
    }

    /// Returns the notes of the schema, and one for each name of an environment that no target has.
    private func notes(
        of schema: ProjectSchema, targets: [String], _ mapping: EnvironmentMapping
    ) throws -> [SchemaNote] {
        // All notations but secretspec are read alike for all targets.
        let distinct = schema.notation == .secretspec ? targets : Array(targets.prefix(1))
        var known: Set<SchemaNote> = []
        var notes = try distinct.flatMap { try schema.schema(for: $0).notes }
            .filter { known.insert($0).inserted }
        var named: Set<String> = []
        for item in try schema.schema(for: targets.first).items {
            for name in item.requirement.environmentNames
            where mapping.target(of: name) == nil && named.insert(name).inserted {
                notes.append(SchemaNote(.environmentNameUnmapped, key: name, line: item.line))
            }
        }
        return notes
    }
}
