internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// `project create`: creates a project on Vercel and links the vault's project to it.
struct ProjectCreate: Command {
    static let spec = CommandSpec(
        ["project", "create"], "Create a project on Vercel",
        discussion: """
            Creates a project without a repository, and links it to the vault's project of the same \
            name, creating that one if necessary.
            """,
        arguments: [ArgumentSpec("NAME", .one, "The name on Vercel")],
        options: [OptionSpec("as", value: "LOCAL", "Name the project LOCAL in the vault")],
        examples: [
            .init("zg-env project create web --team acme", "create a team's project")
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        project: string; projectCreated: boolean (whether it is new in the vault)
        platformProject: string (the name on Vercel); platformProjectId: string | null
        dryRun: boolean
        """

    private let name: String
    private let local: String

    init(_ command: ParsedCommand) throws {
        name = command.required("NAME")
        local = command.value("as") ?? name
        guard VercelProjectName.isValid(name) else {
            throw CommandError(
                .usage, "Vercel does not accept this project name.",
                hint:
                    "Use up to 100 lowercase letters, digits, dots, hyphens and underscores, without three hyphens in a row."
            )
        }
        try ProjectResolver.check(local)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let session = try VercelSession(workspace)
        try workspace.session.keysForWriting()
        let index = try workspace.session.index(.listing)
        let known = index.project(named: local)
        try check(known)
        if known == nil { try TypoCheck.check(project: local, in: index, workspace) }
        let access = try session.access()
        try checkIsFree(access, workspace)
        if workspace.options.dryRun { return dryRun(projectCreated: known == nil, workspace) }
        defer { workspace.dropProjectLists(at: access.client.origin) }
        let platform = try readBack(try create(access, workspace), access)
        let binding = try LinkedProject.binding(to: platform, access, workspace)
        try link(binding, workspace)
        workspace.note("Created project \(platform.name) on Vercel.")
        if known == nil { workspace.note("Created project \(local).") }
        return CommandResult(json: [
            "project": .string(local), "projectCreated": .bool(known == nil),
            "platformProject": .string(platform.name), "platformProjectId": .string(platform.id),
            "dryRun": false,
        ])
    }

    /// Refuses a vault project that is linked already: its values belong to another Vercel project.
    private func check(_ project: VaultProject?) throws {
        guard local != WebhookSecrets.projectName else {
            throw CommandError(
                .usage, "\(local) contains webhook secrets, which must never be pushed.",
                hint: "Choose another name in the vault with --as LOCAL.")
        }
        guard let binding = project?.binding else { return }
        throw CommandError(
            .conflict,
            "The vault project \(local) is already linked to the Vercel project \(binding.projectName).",
            hint: "Choose another name in the vault with --as LOCAL.")
    }

    /// Checks before the creation, so that a project found after a lost response is the one created.
    private func checkIsFree(_ access: VercelSession.Access, _ workspace: Workspace) throws {
        do throws(VercelAPIError) {
            _ = try access.client.project(name)
        } catch {
            guard error.code == .notFound else { throw error }
            return
        }
        throw taken(workspace)
    }

    private func taken(_ workspace: Workspace) -> CommandError {
        let place = workspace.options.team.map { "team \($0)" } ?? "this account"
        return CommandError(
            .conflict, "Vercel already has a project \(name) in \(place).",
            hint: "Link this directory to it with: \(linkCommand(workspace))")
    }

    private func linkCommand(_ workspace: Workspace) -> String {
        "zg-env link \(word: name)"
            + (workspace.options.team.map { " --team \(word: $0)" } ?? "")
            + (local == name ? "" : " --as \(word: local)")
    }

    private func create(
        _ access: VercelSession.Access, _ workspace: Workspace
    ) throws -> Project {
        do throws(VercelAPIError) {
            return try access.client.createProject(name)
        } catch {
            switch error.code {
            case .outcomeUnknown, .malformedAnswer:
                if let created = try? access.client.project(name) { return created }
                throw CommandError(
                    .unavailable,
                    "Vercel did not respond to the request, and a check found no project \(name).",
                    hint: "Run the command again.")
            case .conflict: throw taken(workspace)
            case .badRequest:
                throw CommandError(
                    .usage, "Vercel rejected the project \(name).\(error.saying)",
                    hint: "Choose another name.")
            case .forbidden, .paymentRequired:
                var refusal = CommandError(mapping: error)
                refusal.hint = "The account needs a role that may create projects."
                throw refusal
            default: throw error
            }
        }
    }

    private func readBack(
        _ created: Project, _ access: VercelSession.Access
    ) throws -> Project {
        do throws(VercelAPIError) {
            let seen = try access.client.project(created.id)
            if seen.id == created.id, seen.name == name { return seen }
        } catch {
            var failure = CommandError(mapping: error)
            failure.message =
                "The project \(name) was created, but could not be read back. \(failure.message)"
            throw failure
        }
        throw CommandError(
            .failed, "The project \(name) was created, but Vercel then showed a different project.",
            hint: "Check with: zg-env project list --refresh")
    }

    /// Stores the link. The project stays on Vercel if that fails.
    private func link(
        _ binding: VaultProject.Binding, _ workspace: Workspace
    ) throws {
        let time = workspace.context.now()
        do {
            try workspace.session.commit { transaction, news in
                news.add(LinkableProject(name: local, isArgument: true))
                let project = transaction.project(named: local, at: time).project
                try check(project)
                let position = transaction.index.projects.firstIndex { $0.id == project.id }
                if let position { _ = transaction.bind(projectAt: position, to: binding) }
            }
        } catch {
            var failure = CommandError(mapping: error)
            failure.message =
                "The project \(name) was created on Vercel, but is not linked to the vault. \(failure.message)"
            failure.hint = "Link it with: \(linkCommand(workspace))"
            throw failure
        }
    }

    private func dryRun(projectCreated: Bool, _ workspace: Workspace) -> CommandResult {
        let place = workspace.options.team.map { " in team \($0)" } ?? ""
        return CommandResult(
            json: [
                "project": .string(local), "projectCreated": .bool(projectCreated),
                "platformProject": .string(name), "platformProjectId": .null, "dryRun": true,
            ],
            text:
                "Would create the project \(DisplayText.safe(name))\(DisplayText.safe(place)) on Vercel.\n"
        )
    }
}
