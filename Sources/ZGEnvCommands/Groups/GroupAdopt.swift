internal import CommandLineKit
internal import Vault

/// `group adopt`: gives a project that came from a group a name of this vault.
struct GroupAdopt: Command {
    static let spec = CommandSpec(
        ["group", "adopt"], "Use a project that came from a group",
        discussion: """
            A project from a group is called PROJECT@GROUP until you adopt it under a name of your \
            own. If you already have a project with that name, variables with the same value are \
            merged, and your other variables are kept in a project called "NAME (before)". Also \
            brings back a project that you removed from this vault.
            """,
        arguments: [
            ArgumentSpec("PROJECT", .one, "The project", completion: .dynamic(.project)),
            ArgumentSpec("NAME", .optional, "The new name (default: the part before @)"),
        ],
        options: [
            OptionSpec(
                flag: "bind", "Link the project to the Vercel project that the group proposes")
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        project: string; was?: string (its name before)
        kept?: string | null (the new name of your project of that name)
        equal?, differing?, missing?: [string] (compared with that project); commands?: [string]
        bound?: string | null (the Vercel project)
        wouldLink?: null | {
            projectID, name: string; team, teamName, framework: string | null; origin: string
        }
        dryRun: boolean
        """

    private let project: String
    private let name: String
    private let binds: Bool

    init(_ command: ParsedCommand) throws {
        let project = command.required("PROJECT")
        let front = project.lastIndex(of: "@").map { String(project[..<$0]) } ?? project
        self.project = project
        name = command.argument("NAME") ?? front
        binds = command.has("bind")
        try ProjectResolver.check(name)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let index = try workspace.session.opened().index(
            with: try workspace.session.keys(.values), extent: .everything)
        var found = project
        if index.project(named: project) == nil,
            let removed = try RemovedProject(project, in: index)
        {
            if workspace.options.dryRun { return removed.plan(name) }
            found = try removed.takeAgain(workspace).name
        }
        return try GroupAdoption(workspace, binds: binds ? true : nil).adopt(found, as: name)
    }
}
