internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `projects`: lists the projects of the vault.
struct Projects: Command {
    static let vaultUse = VaultUse(showsNamesOnly: true)
    static let spec = CommandSpec(
        ["projects"], "List the projects in the vault",
        discussion: """
            Shows how many variables each project has and, as of the last refresh, how many are \
            not on Vercel or not live yet. Sends no requests. zg-env project list lists the projects \
            on Vercel.
            """,
        exitCodes: ExitCode.ofOpening())
    static let fields = """
        projects: [{
            name: string; variables: number; vercel: string | null (the name on Vercel)
            notPushed, conflicts, notLive: number; directories: [string]
        }]
        """

    init(_ command: ParsedCommand) {}

    private struct Row {
        let project: VaultProject
        let variables: Int
        let unpushed: Int
        let conflicts: Int
        let notLive: Int
        let directories: [String]

        init(_ project: VaultProject, in index: VaultIndex) {
            self.project = project
            let records = index.variables.filter { $0.project == project.id }
            variables = Set(records.filter(\.isLive).map(\.name)).count
            let states = project.binding == nil ? [] : records.map { SyncState(of: $0) }
            unpushed = states.count { [.local, .ahead].contains($0) }
            conflicts = states.count { $0 == .diverged }
            let pending = PendingChanges(of: project, in: index)
            notLive = Set((pending.changed + pending.removed).map(\.name)).count
            directories = index.metadata.approvedDirectories
                .filter { $0.vaultProject == project.id }.map(\.path).sorted()
        }

        /// What needs attention, for people.
        var state: String {
            var parts: [String] = []
            if conflicts > 0 { parts.append("\(conflicts) in conflict") }
            if unpushed > 0 { parts.append("\(unpushed) not pushed") }
            if notLive > 0 { parts.append("\(notLive) not live") }
            return parts.joined(separator: ", ")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let index = try workspace.session.indexAsSeen(.listing)
        let rows = index.projects.sorted { $0.name < $1.name }.map { Row($0, in: index) }
        if let problem = try workspace.session.cacheIndexKey() { workspace.detail(problem) }
        var table = Table([
            .init("PROJECT", canShrink: true), .init("VARIABLES"),
            .init("ON VERCEL", canShrink: true), .init("STATE", canShrink: true),
            .init("DIRECTORY", canShrink: true),
        ])
        for row in rows {
            let binding = row.project.binding
            let team = (binding?.teamSlug).map { "\($0)/" } ?? ""
            table.append([
                .init(row.project.name), .init(String(row.variables)),
                .init(binding.map { team + ($0.projectName) } ?? "", as: .dim),
                .init(row.state, as: .warning),
                .init(row.directories.joined(separator: ", "), as: .dim),
            ])
        }
        return CommandResult(
            json: [
                "projects": .array(
                    rows.map { row in
                        [
                            "name": .string(row.project.name),
                            "variables": .integer(Int64(row.variables)),
                            "vercel": .string(orNull: row.project.binding?.projectName),
                            "notPushed": .integer(Int64(row.unpushed)),
                            "conflicts": .integer(Int64(row.conflicts)),
                            "notLive": .integer(Int64(row.notLive)),
                            "directories": .strings(row.directories),
                        ]
                    })
            ],
            text: TerminalStyle(workspace.context).text(table))
    }
}
