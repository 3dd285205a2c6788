internal import CommandLineKit
internal import Vault

/// A new name that differs from a known one by one slip of the fingers: it is asked about before
/// anything of that name is made.
enum Slip {
    /// Asks where a project, a variable or a custom environment that `set` would make is near one that
    /// there is.
    ///
    /// - Throws: ``ExitCode/usage`` where nobody can be asked, ``ExitCode/failed`` for a no. Nothing was
    ///   made then.
    static func check(
        _ key: String, _ projectName: String, _ scope: Scope?, in index: VaultIndex,
        _ workspace: Workspace
    ) throws {
        guard let project = index.project(named: projectName) else {
            return try check(project: projectName, in: index, workspace)
        }
        let records = index.variables.lazy.filter { $0.project == project.id && $0.isLive }
        // Most commands set what is there already.
        if !records.contains(where: { $0.name == key }) {
            try check("variable", key, among: Set(records.map(\.name)), workspace)
        }
        for name in scope?.customEnvironments ?? [] {
            let environments = Set(records.flatMap { $0.attributes.scope.customEnvironments })
            try check("custom environment", name, among: environments, workspace)
        }
    }

    /// The same of a project alone.
    static func check(
        project name: String, in index: VaultIndex, _ workspace: Workspace
    ) throws {
        try check("project", name, among: Set(index.projects.map(\.name)), workspace)
    }

    private static func check(
        _ kind: String, _ name: String, among known: Set<String>, _ workspace: Workspace
    ) throws {
        guard !known.contains(name), !workspace.options.yes,
            let near = known.sorted().first(where: { Suggestion.isSlip($0, for: name) })
        else { return }
        let line = "There is no \(kind) \(name), but there is \(near)."
        let unattended = CommandError(
            .usage, line, hint: "Nothing was changed. Did you mean \(near)? If not, say --yes.")
        if workspace.options.dryRun {
            return workspace.context.warn("near-name", "\(line) Did you mean \(near)?")
        }
        guard workspace.interaction.canConfirm else { throw unattended }
        _ = try workspace.confirm([line], "Make \(name) all the same?")
    }
}
