internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// `project remove`: removes a project with its variables and their history from the vault.
struct ProjectRemove: Command {
    static let spec = CommandSpec(
        ["project", "remove"], "Remove a project and its variables from the vault",
        discussion: """
            Also removes the history of the variables; only a backup can restore it. Does not \
            change anything on Vercel. A project that is shared with a group is removed from this \
            vault only, and zg-env group adopt brings it back; to remove variables for everyone, \
            use zg-env rm.
            """,
        arguments: [ArgumentSpec("NAME", .one, "The project", completion: .dynamic(.project))],
        exitCodes: ExitCode.ofOpening(and: .conflict), aliases: [["project", "rm"]])
    static let fields =
        "project: string; variables: number; group: string | null; dryRun: boolean"

    private let name: String

    init(_ command: ParsedCommand) { name = command.required("NAME") }

    func run(in workspace: Workspace) throws -> CommandResult {
        func find(in index: VaultIndex) throws -> VaultProject {
            guard let project = index.project(named: name) else {
                throw ProjectResolver.notFound(name, in: index)
            }
            return project
        }
        try workspace.session.keysForWriting { _ = try find(in: $0) }
        let index = try workspace.session.index(.listing)
        let project = try find(in: index)
        let count = index.variables(of: project.id).count
        let variables = DisplayText.count(count, "variable")
        var plan = [
            "remove the project \(name) from the vault, with \(variables) and all history"
        ]
        let shared = try SharedProject.of(project.id, in: index)
        let group = try shared.flatMap {
            try GroupMembership.active(of: $0, in: workspace.session.index(.everything))
        }
        if let group, group.standing == .active {
            plan.append(
                "send nothing: \(group.name) keeps the project, and "
                    + "zg-env group adopt \(name.hasSuffix("@\(group.name)") ? name : "\(name)@\(group.name)") brings it back"
            )
        }
        let answer = try workspace.confirm(plan, "Remove the project permanently?")
        if answer {
            let change = Change { index, _ in
                try find(in: index).id == project.id ? index.variables(of: project.id) : []
            } apply: { transaction, _, _ in
                if let shared { try transaction.detach(shared, keepsProject: false) }
                let records = transaction.index.variables.filter { $0.project == project.id }
                transaction.erase(Set(records.map(\.id)))
                transaction.index.projects.removeAll { $0.id == project.id }
                for directory in transaction.index.metadata.approvedDirectories
                where directory.vaultProject == project.id {
                    transaction.index.metadata.revokeApproval(path: directory.path)
                }
            }
            try workspace.session.commit(
                change, as: Planned(index.variables(of: project.id), in: index))
            workspace.note("Removed the project \(name) with \(variables).")
        }
        return CommandResult(
            json: [
                "project": .string(name), "variables": .integer(Int64(count)),
                "group": .string(orNull: group?.name), "dryRun": .bool(!answer),
            ],
            text: !answer ? DisplayText.lines(plan, after: "Would ") : "")
    }
}
