internal import CommandLineKit
internal import Vault
internal import VercelAPI

/// `project list`: the projects of the account or team on the platform.
enum ProjectList: Command {
    static let spec = CommandSpec(
        ["project", "list"], "List the projects on the platform", section: "Platform",
        exitCodes: [ExitCode.unauthorized.rawValue, ExitCode.unavailable.rawValue],
        aliases: [["project", "ls"]])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let access = try PlatformSession(invocation).access()
        let projects = try access.client.projects().sorted { $0.name < $1.name }
        let index = try invocation.session.indexWithoutAsking()
        let local = Dictionary(
            (index?.projects ?? []).compactMap { project in
                project.binding.map { ($0.projectID, project.name) }
            }, uniquingKeysWith: { first, _ in first })
        var table = Table([
            .init("PROJECT", canShrink: true), .init("IN THE VAULT", canShrink: true),
            .init("FRAMEWORK"), .init("PRODUCTION", canShrink: true),
        ])
        for project in projects {
            table.append([
                .init(project.name), .init(local[project.id] ?? ""),
                .init(project.framework ?? ""), .init(project.production?.url ?? "", as: .dim),
            ])
        }
        let look = OutputLook(invocation.context)
        return CommandResult(
            json: [
                "projects": .array(
                    projects.map { project in
                        [
                            "id": .string(project.id), "name": .string(project.name),
                            "local": .string(orNull: local[project.id]),
                            "framework": .string(orNull: project.framework),
                            "updatedAt": .time(orNull: project.updatedAt?.milliseconds),
                            "production": project.production.map {
                                DeploymentListing.json($0, current: true)
                            } ?? .null,
                        ]
                    })
            ], text: table.text(width: look.width, style: look.style))
    }
}
