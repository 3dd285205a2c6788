internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Searching
internal import Vault

/// Digests of the values to search for, with the variables they belong to.
struct ScanSelection {
    let table: SearchTable
    /// The variables of each value in ``table``.
    let owners: [[ScanValues.Owner]]
    /// Variables whose value is too short or too common to search for, or public.
    let leftOut: [ScanValues.Owner]

    /// Opens the values, which may ask for the passphrase, and keeps only digests of them.
    init(_ choice: ScanOptions, _ workspace: Workspace) throws {
        let resolver = ProjectResolver(workspace)
        if !choice.allProjects { _ = try resolver.reference() }
        let keys = try workspace.session.keys(.values) {
            if !choice.allProjects { _ = try resolver.existing(in: $0) }
        }
        let vault = try workspace.session.opened()
        let index = try vault.index(
            with: keys, extent: choice.history ? .everything : .currentValues)
        let projects = try choice.allProjects ? index.projects : [resolver.existing(in: index)]
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        let except = Set(choice.except)
        let arena = SecretArena()
        var found: [(owner: ScanValues.Owner, value: SecretSlice)] = []
        var missing: [String] = []
        var published: [ScanValues.Owner] = []
        for project in projects {
            let removed = choice.history ? index.removedVariables(of: project.id) : []
            for variable in index.variables(of: project.id) + removed
            where !except.contains(variable.name) {
                if let value = try reader.currentValue(of: variable, in: arena) {
                    let owner = ScanValues.Owner(
                        project: project.name, key: variable.name,
                        earlierVersion: variable.isLive ? nil : variable.currentVersion)
                    if ValueWarning.isPublic(variable.name) {
                        published.append(owner)
                    } else {
                        found.append((owner, value))
                    }
                } else if variable.isLive {
                    missing.append(variable.name)
                }
            }
        }
        if choice.history {
            let records = Dictionary(uniqueKeysWithValues: index.variables.map { ($0.id, $0) })
            let names = Dictionary(uniqueKeysWithValues: projects.map { ($0.id, $0.name) })
            for version in index.earlierVersions {
                guard let variable = records[version.variable],
                    let project = names[variable.project], !except.contains(variable.name),
                    !ValueWarning.isPublic(variable.name)
                else { continue }
                let owner = ScanValues.Owner(
                    project: project, key: variable.name, earlierVersion: version.version)
                found.append((owner, try reader.value(of: variable, version, in: arena)))
            }
        }
        if !missing.isEmpty {
            workspace.context.warn(
                "missing-value",
                "Skipped, no value in the vault: "
                    + "\(missing.sorted().joined(separator: ", ")).")
        }
        let values = try ScanValues(
            found, minimum: choice.minimumLength.flatMap { Int($0) } ?? 0)
        if !found.isEmpty {
            try workspace.audit(
                "searched for", Set(found.map(\.owner.key)).sorted(),
                project: choice.allProjects ? nil : projects.first?.name, seen: index.metadata)
        }
        table = try SearchTable(values.values)
        (owners, leftOut) = (values.owners, values.leftOut + published)
        Self.note(values.leftOut, "short or common", workspace)
        Self.note(published, "public", workspace)
        if table.isEmpty { workspace.note("There are no values to search for.") }
    }

    private static func note(
        _ skipped: [ScanValues.Owner], _ reason: String, _ workspace: Workspace
    ) {
        guard !skipped.isEmpty else { return }
        let keys = Set(skipped.map(\.key)).sorted().joined(separator: ", ")
        workspace.note("Skipped \(DisplayText.count(skipped.count, "\(reason) value")): \(keys).")
    }
}
