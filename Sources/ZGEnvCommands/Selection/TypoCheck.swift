internal import CommandLineKit
internal import Vault

/// Asks for confirmation before creating something whose name is a likely typo of an existing one.
enum TypoCheck {
    /// Checks the names of the project, the variables and the custom environments that `set` would create.
    ///
    /// - Throws: ``ExitCode/usage`` if nobody can be asked, ``ExitCode/failed`` if the answer is no.
    static func check(
        _ keys: [String], _ projectName: String, _ scope: Scope?, in index: VaultIndex,
        _ workspace: Workspace
    ) throws {
        guard let project = index.project(named: projectName) else {
            return try check(project: projectName, in: index, workspace)
        }
        let records = index.variables.lazy.filter { $0.project == project.id && $0.isLive }
        // Most commands set an existing variable.
        for key in keys where !records.contains(where: { $0.name == key }) {
            try check("variable", key, among: Set(records.map(\.name)), workspace)
        }
        for name in scope?.customEnvironments ?? [] {
            let environments = Set(records.flatMap { $0.attributes.scope.customEnvironments })
            try check("custom environment", name, among: environments, workspace)
        }
    }

    /// Checks the name of a project.
    static func check(
        project name: String, in index: VaultIndex, _ workspace: Workspace
    ) throws {
        try check("project", name, among: Set(index.projects.map(\.name)), workspace)
    }

    private static func check(
        _ kind: String, _ name: String, among known: Set<String>, _ workspace: Workspace
    ) throws {
        guard !known.contains(name), !workspace.options.yes,
            let near = known.sorted().first(where: { Suggestion.isTypo($0, for: name) })
        else { return }
        let line = "There is no \(kind) \(name), but there is \(near)."
        let unattended = CommandError(
            .usage, line, hint: "Did you mean \(near)? If not, use --yes.")
        if workspace.options.dryRun {
            return workspace.context.warn("near-name", "\(line) Did you mean \(near)?")
        }
        guard workspace.interaction.canConfirm else { throw unattended }
        _ = try workspace.confirm([line], "Create \(name) anyway?")
    }
}
