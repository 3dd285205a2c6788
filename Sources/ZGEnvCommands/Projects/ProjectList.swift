internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// `project list`: lists the projects of the account or team on Vercel.
struct ProjectList: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["project", "list"], "List the projects on Vercel",
        discussion: """
            zg-env projects lists those in the vault. Reuses a response from Vercel for one minute. If Vercel cannot be reached, an older response \
            is used, with a warning. --refresh always asks Vercel; --offline never does.
            """,
        exitCodes: ExitCode.ofVercel,
        aliases: [["project", "ls"]])
    static let fields = """
        asOf: time
        projects: [{
            id, name: string; local: string | null (the first of locals)
            locals: [string] (the projects in the vault); framework: string | null
            updatedAt: time | null; production: null | { \(DeploymentListing.fields) }
        }]
        """

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let answers = try VercelResponses(workspace)
        let found = try answers.answer(to: .projects) { try $0.client.projects() }
        let projects = found.answer.sorted { $0.name < $1.name }
        let local = Dictionary(
            (answers.index?.projects ?? []).compactMap { project in
                project.binding.map { ($0.projectID, [project.name]) }
            }, uniquingKeysWith: { ($0 + $1).sorted() })
        var table = Table([
            .init("PROJECT", canShrink: true), .init("IN THE VAULT", canShrink: true),
            .init("FRAMEWORK"), .init("PRODUCTION", canShrink: true),
        ])
        for project in projects {
            table.append([
                .init(project.name),
                .init((local[project.id] ?? []).joined(separator: ", ")),
                .init(project.framework ?? ""), .init(project.production?.url ?? "", as: .dim),
            ])
        }
        return CommandResult(
            json: [
                "asOf": .time(orNull: Int64(clamping: found.askedAt)),
                "projects": .array(
                    projects.map { project in
                        [
                            "id": .string(project.id), "name": .string(project.name),
                            "local": .string(orNull: local[project.id]?.first),
                            "locals": .strings(local[project.id] ?? []),
                            "framework": .string(orNull: project.framework),
                            "updatedAt": .time(orNull: project.updatedAt?.milliseconds),
                            "production": project.production.map {
                                DeploymentListing.json($0, current: true)
                            } ?? .null,
                        ]
                    }),
            ], text: TerminalStyle(workspace.context).text(table))
    }
}
