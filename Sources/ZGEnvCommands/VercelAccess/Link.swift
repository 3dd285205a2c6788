internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import HTTPClient
internal import JSON
internal import Vault
internal import VercelAPI

/// `link`: links this directory to a project, and approves the link for this vault.
struct Link: Command {
    static let spec = CommandSpec(
        ["link"], "Link this directory to a project",
        discussion: """
            Writes .vercel/project.json, which the Vercel CLI uses too, and approves this directory in the \
            vault. In a git repository, adds .vercel to .gitignore. Without NAME, approves the existing link, such as one from a cloned repository; if \
            the directory is not linked, lets you choose a project on a terminal. With --local, links to a \
            project that exists only in the vault.
            """,
        arguments: [
            ArgumentSpec(
                "NAME", .optional, "The project on Vercel", completion: .dynamic(.project))
        ],
        options: [
            OptionSpec("as", value: "LOCAL", "Name the project LOCAL in the vault"),
            OptionSpec("local", value: "NAME", "Link to a project that exists only in the vault"),
            OptionSpec(
                flag: "force",
                "Replace a link to another project or to a deleted project"),
        ],
        exclusive: [["as", "local"]],
        examples: [.init("zg-env link web --team acme", "link this directory to a team's project")],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        project, file: string; platformProjectId: string | null; gitignore: string | null
        dryRun: boolean
        """

    private let name: String?
    private let vaultName: String?
    private let localName: String?
    private let replaces: Bool

    init(_ command: ParsedCommand) {
        name = command.argument("NAME")
        vaultName = command.value("as")
        localName = command.value("local")
        replaces = command.has("force")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let isNamed = workspace.options.namesProject && workspace.options.project != localName
        guard localName == nil || name == nil && !isNamed else {
            throw CommandError(
                .usage, "--local specifies the project: leave out NAME and -p.",
                hint: "Without --local, NAME is a project on Vercel.")
        }
        try workspace.session.keysForWriting()
        // A vault that someone else wrote is refused before the link file is written.
        _ = try workspace.session.index(.listing)
        let directory = workspace.context.workingDirectory
        if let name = localName {
            try ProjectResolver.check(name)
            return try linkLocal(name, directory, workspace)
        }
        if let name = name ?? workspace.options.project {
            return try linkVercel(name, directory, workspace)
        }
        return try approve(directory, workspace)
    }

    private func linkLocal(
        _ name: String, _ directory: String, _ workspace: Workspace
    ) throws -> CommandResult {
        let link = DirectoryLink(workspace, replaces: replaces)
        _ = try link.write(.local(name), name: name, local: name, at: directory)
        try link.approve(directory, .local(name), as: name, binding: nil)
        let path = DirectoryLink.path(of: .local(name), at: directory)
        return result(workspace, project: name, path: path, platform: nil)
    }

    private func linkVercel(
        _ name: String, _ directory: String, _ workspace: Workspace
    ) throws -> CommandResult {
        let access = try VercelSession(workspace).access()
        let platform = try LinkedProject.find(name, access, workspace)
        let binding = try LinkedProject.binding(to: platform, access, workspace)
        let index = try workspace.session.index(.listing)
        let local =
            vaultName ?? index.owner(of: binding)?.name ?? platform.name
        try ProjectResolver.check(local)
        if workspace.options.namesProject, let other = workspace.options.project,
            ![local, platform.name, platform.id].contains(other)
        {
            throw CommandError(
                .usage, "NAME is the project \(local), but -p specifies \(other).",
                hint: "Leave out -p.")
        }
        try check(binding, as: local, directory, index, access, workspace)
        let target = LinkFile.Target.platform(
            project: platform.id, organisation: platform.accountId ?? binding.accountID)
        let link = DirectoryLink(workspace, replaces: replaces)
        let ignored = try link.write(target, name: platform.name, local: local, at: directory)
        try link.approve(directory, target, as: local, binding: binding)
        let path = DirectoryLink.path(of: target, at: directory)
        return result(
            workspace, project: local, path: path, platform: platform, ignoredIn: ignored)
    }

    /// Approves an existing link, such as one from a cloned repository.
    private func approve(
        _ directory: String, _ workspace: Workspace
    ) throws -> CommandResult {
        let found = try LinkFile.nearest(to: directory, user: geteuid()) {
            workspace.context.warn("foreign-link", $0)
        }
        guard let link = found else {
            guard let picked = try picked(workspace) else {
                throw CommandError(
                    .usage, "This directory is not linked to a project.",
                    hint: ProjectResolver.workTreeHint(workspace)
                        ?? "Link it with: zg-env link NAME")
            }
            return picked.isLocal
                ? try linkLocal(picked.name, directory, workspace)
                : try linkVercel(picked.name, directory, workspace)
        }
        let index = try workspace.session.index(.listing)
        switch link.target {
        case .local(let name):
            guard vaultName == nil else {
                throw CommandError(
                    .usage,
                    "This directory is linked to \(name), which is only in the vault, so --as has no effect.",
                    hint:
                        "Rename the project with: zg-env project rename \(word: name) \(word: vaultName ?? name)"
                )
            }
            guard index.project(named: name) != nil else {
                throw ProjectResolver.notFound(name, in: index)
            }
            try confirm(link, name, workspace)
            try DirectoryLink(workspace).approve(
                link.directory, link.target, as: name, binding: nil)
            return result(workspace, project: name, path: link.path, platform: nil)
        case .platform(let id, let organisation):
            let access = try VercelSession(workspace).access()
            let client =
                organisation.hasPrefix("team_")
                ? access.client.scoped(to: .team(id: organisation)) : access.client
            let platform: Project
            do throws(VercelAPIError) {
                platform = try client.project(id)
            } catch {
                throw access.refusal(error, of: id) ?? error
            }
            let local =
                vaultName
                ?? index.projects.first { $0.binding?.projectID == id }?.name ?? platform.name
            let binding = VaultProject.Binding(
                origin: client.origin.description,
                accountID: try access.userID(orOwnerOf: platform),
                teamID: organisation.hasPrefix("team_") ? organisation : nil,
                teamSlug: workspace.options.team, projectID: id, projectName: platform.name)
            try check(
                binding, as: local, link.directory, index,
                .init(client: client, account: access.account), workspace)
            try confirm(link, local, workspace)
            try DirectoryLink(workspace).approve(
                link.directory, link.target, as: local, binding: binding)
            return result(workspace, project: local, path: link.path, platform: platform)
        }
    }

    /// Lets a person pick a project on Vercel, or one that is only in the vault.
    ///
    /// - Returns: nil if nobody can pick, or there is nothing to pick from.
    private func picked(_ workspace: Workspace) throws -> (name: String, isLocal: Bool)? {
        let picker = Picker(workspace)
        guard picker.isPossible else { return nil }
        let local = try workspace.session.index(.listing).projects
            .filter { $0.binding == nil }
        let platform = try platformProjects(isNeeded: local.isEmpty, workspace)
        let names = Set(platform.map(\.name))
        let entries =
            platform.map { ListPicker.Entry($0.name, note: $0.framework ?? "") }
            + local.filter { !names.contains($0.name) }
            .map { ListPicker.Entry($0.name, note: "only in the vault") }
        let name = try picker.pick("Project", entries.sorted { $0.word < $1.word })
        return name.map { ($0, !names.contains($0)) }
    }

    /// Returns the projects on Vercel. Without access, a warning, unless there is nothing else.
    private func platformProjects(isNeeded: Bool, _ workspace: Workspace) throws -> [Project] {
        do {
            return try VercelResponses(workspace).answer(to: .projects) {
                try $0.client.projects()
            }.answer
        } catch {
            let failure = CommandError(mapping: error)
            guard !isNeeded, [.unauthorized, .unavailable].contains(failure.code) else {
                throw error
            }
            workspace.note("Cannot list the projects on Vercel. \(failure.message)")
            return []
        }
    }

    private func confirm(_ link: LinkFile, _ name: String, _ workspace: Workspace) throws {
        let plan = ["let programs in \(link.directory) use the variables of project \(name)"]
        _ = try workspace.confirm(plan, "Trust this directory?")
    }

    /// Checks that a vault project may be linked to a Vercel project, and a directory to it.
    private func check(
        _ binding: VaultProject.Binding, as local: String, _ directory: String,
        _ index: VaultIndex, _ access: VercelSession.Access, _ workspace: Workspace
    ) throws {
        let project = index.project(named: local)
        try LinkedProject.checkOwner(of: binding, is: project, index)
        try checkBinding(project, binding, access.client, access.account, workspace)
        try checkLink(of: directory, to: project, index, workspace)
    }

    /// Refuses to link a directory to another vault project than it was approved for, without
    /// `--force`.
    private func checkLink(
        of directory: String, to project: VaultProject?, _ index: VaultIndex,
        _ workspace: Workspace
    ) throws {
        let approved = index.metadata.approvedDirectories.first { $0.path == directory }
        guard let known = approved.flatMap({ index.project($0.vaultProject) }),
            known.id != project?.id, !replaces
        else { return }
        throw CommandError(
            .conflict,
            "This directory is already linked to the project \(known.name).",
            hint: "Use --force to link it to the other project instead.")
    }

    /// Refuses to link the vault project to another Vercel project, unless `--force` is given and
    /// the old one is gone: values of one project must not reach another by mistake.
    private func checkBinding(
        _ project: VaultProject?, _ binding: VaultProject.Binding, _ client: VercelClient,
        _ account: Account?, _ workspace: Workspace
    ) throws {
        guard let project, let old = project.binding, old.projectID != binding.projectID else {
            return
        }
        let rotation = try workspace.session.index(.everything).rotations().first {
            $0.isOpen && $0.plan.members.contains { $0.project == project.id }
        }
        if let key = rotation?.plan.key {
            throw CommandError(
                .conflict,
                "A rotation of \(key) in \(project.name) is unfinished, and can continue only with the Vercel project it started with.",
                hint:
                    "Revert it first with: zg-env rotate \(word: key) -p \(word: project.name) --abort. If that project is gone, close the rotation with: zg-env rotate \(word: key) -p \(word: project.name) --close"
            )
        }
        if try replaces && isGone(old, client),
            try VercelSession(workspace).account(besides: account, withAccessTo: old) == nil
        {
            return
        }
        throw CommandError(
            .conflict,
            "The vault project \(project.name) is linked to another Vercel project\(replaces ? ", which still exists" : "").",
            hint: "Choose another name in the vault with --as LOCAL.")
    }

    /// Returns whether Vercel no longer has a linked project.
    private func isGone(
        _ binding: VaultProject.Binding, _ client: VercelClient
    ) throws -> Bool {
        guard client.origin.description == binding.origin else { return false }
        let place = APIScope(teamID: binding.teamID)
        do throws(VercelAPIError) {
            _ = try client.scoped(to: place).project(binding.projectID)
            return false
        } catch {
            guard error.code == .notFound else { throw error }
            return true
        }
    }

    private func result(
        _ workspace: Workspace, project: String, path: String, platform: Project?,
        ignoredIn gitIgnore: String? = nil
    ) -> CommandResult {
        CommandResult(json: [
            "project": .string(project), "file": .string(path),
            "platformProjectId": .string(orNull: platform?.id),
            "gitignore": .string(orNull: gitIgnore),
            "dryRun": .bool(workspace.options.dryRun),
        ])
    }
}
