internal import DotEnv
internal import Sealing
internal import Vault
internal import VercelAPI

/// A project of the platform, and the vault's project that it belongs to where there is one.
struct BoundProject {
    /// The way to the platform, in the project's scope.
    let access: PlatformSession.Access
    /// The platform's project as it is now.
    let platform: Project
    /// The vault's project, bound; nil without a vault.
    let local: VaultProject?
    /// What was read together with the project; nil where it was read alone.
    var reading: Reading?

    /// The lists that were read together with the project.
    struct Reading {
        let lists: ProjectReading
        /// Holds the values.
        let arena: SecretArena
        /// When they were asked for, by this machine's clock, in milliseconds since 1970.
        let askedAt: UInt64
        /// The platform's time when they had come, in milliseconds since 1970.
        let platformTime: UInt64
    }

    /// Finds the vault's project, and the platform's by id or, the first time, by name. The vault
    /// keeps the id from then on.
    ///
    /// - Parameter readsLists: Whether to read ``reading`` at the same time, where the platform's id is known.
    /// - Throws: ``ExitCode/notFound`` when vault or platform have none, ``ExitCode/conflict`` when
    ///   options contradict the binding.
    static func inVault(
        _ workspace: Workspace, readsLists: Bool = false
    ) throws -> BoundProject {
        let session = try PlatformSession(workspace)
        let index = try workspace.session.index(.listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        return try inVault(project, session, workspace, readsLists: readsLists)
    }

    /// The platform's side of a project that the vault has.
    ///
    /// - Parameters:
    ///   - known: The platform's project where it was read just now.
    ///   - readsLists: Whether to read ``reading`` at the same time, where the platform's id is known.
    static func inVault(
        _ project: VaultProject, _ session: PlatformSession, _ workspace: Workspace,
        knowing known: Project? = nil, readsLists: Bool = false
    ) throws -> BoundProject {
        let access = try session.access(project.binding)
        if let binding = project.binding {
            try check(
                binding, of: project.name, origin: access.client.origin, account: access.account,
                workspace)
            if readsLists {
                let (askedAt, arena) = (workspace.context.now(), SecretArena())
                let lists = try present(binding, of: project, access, workspace) {
                    () throws(VercelAPIError) in
                    try access.client.projectReading(binding.projectID, valuesInto: arena)
                }
                return BoundProject(
                    access: access, platform: lists.project, local: project,
                    reading: Reading(
                        lists: lists, arena: arena, askedAt: askedAt,
                        platformTime: access.client.platformTime))
            }
            let platform =
                try known.flatMap { $0.id == binding.projectID ? $0 : nil }
                ?? present(binding, of: project, access, workspace) { () throws(VercelAPIError) in
                    try access.client.project(binding.projectID)
                }
            return BoundProject(access: access, platform: platform, local: project)
        }
        let platform = try find(project.name, access, workspace)
        try checkOwner(
            of: try binding(to: platform, access, workspace), is: project,
            try workspace.session.index(.listing))
        let bound = try bind(project, to: platform, access, workspace)
        return BoundProject(access: access, platform: platform, local: bound)
    }

    /// What is read of the project of a binding.
    ///
    /// - Throws: ``ExitCode/notFound`` where Vercel has it no more, with the command that ties the vault's
    ///   project to where it is now.
    private static func present<Found>(
        _ binding: VaultProject.Binding, of project: VaultProject,
        _ access: PlatformSession.Access, _ workspace: Workspace,
        _ read: () throws(VercelAPIError) -> Found
    ) throws -> Found {
        do throws(VercelAPIError) {
            return try read()
        } catch {
            guard error.code == .notFound else { throw error }
            let session = try PlatformSession(workspace)
            if let other = try session.account(besides: access.account, thatSees: binding) {
                let used =
                    access.account.map { "The account \($0.name)" }
                    ?? "VERCEL_TOKEN"
                throw CommandError(
                    .unauthorized,
                    "\(used) does not see the project of Vercel that \(project.name) belongs to; the account \(other.name) does.",
                    hint:
                        "Nothing was changed. Say it with --account \(word: other.name), or use it from now on with: zg-env account use \(word: other.name)"
                )
            }
            throw LostProject(binding, of: project, access.client).error ?? error
        }
    }

    /// Finds a project for a command that needs no vault.
    ///
    /// - Throws: ``ExitCode/usage`` for the link of a directory that the vault has not approved.
    static func anywhere(_ workspace: Workspace) throws -> BoundProject {
        let session = try PlatformSession(workspace)
        let resolver = ProjectResolver(workspace)
        let reference = try resolver.reference()
        // A stored account opens the vault, which then knows the project's team too.
        let access = try session.access()
        let index = try workspace.session.indexAtHand()
        if let index, let project = try? resolver.existing(in: index), project.binding != nil {
            return try inVault(workspace)
        }
        switch reference {
        case .named(let name):
            return BoundProject(
                access: access, platform: try find(name, access, workspace), local: nil)
        case .platform(let id, let organisation):
            return try scoped(access, id, organisation)
        case .link(let link):
            // Whoever has a vault decides there which directories count.
            if hasVault(workspace) { return try inVault(workspace) }
            guard case .platform(let id, let organisation) = link.target else {
                throw CommandError(
                    .notFound, "\(link.path) names a project that lives only in the vault.")
            }
            return try scoped(access, id, organisation)
        }
    }

    private static func hasVault(_ workspace: Workspace) -> Bool {
        do {
            _ = try workspace.session.opened()
            return true
        } catch let error as VaultError {
            return error.code != .notFound
        } catch {
            return true
        }
    }

    private static func scoped(
        _ access: PlatformSession.Access, _ id: String, _ organisation: String
    ) throws -> BoundProject {
        let scope: APIScope =
            organisation.hasPrefix("team_") ? .team(id: organisation) : access.client.scope
        let client = access.client.scoped(to: scope)
        return BoundProject(
            access: .init(client: client, account: access.account),
            platform: try client.project(id), local: nil)
    }

    /// Finds a project of the platform by name.
    static func find(
        _ name: String, _ access: PlatformSession.Access, _ workspace: Workspace
    ) throws -> Project {
        do throws(VercelAPIError) {
            return try access.client.project(name)
        } catch {
            guard error.code == .notFound else { throw error }
            let place =
                workspace.options.team.map { "the team \($0)" } ?? "this account"
            throw CommandError(
                .notFound, "The platform has no project \(name) in \(place).",
                hint: "See what is there with: zg-env project list. Nothing was made.")
        }
    }

    /// Keeps the platform's id with the vault's project.
    static func bind(
        _ project: VaultProject, to platform: Project, _ access: PlatformSession.Access,
        _ workspace: Workspace
    ) throws -> VaultProject {
        var bound = project
        bound.binding = try binding(to: platform, access, workspace)
        if workspace.options.dryRun { return bound }
        let binding = bound.binding
        try workspace.session.update(with: try workspace.session.keys(.index)) { transaction in
            guard
                let position = transaction.index.projects.firstIndex(where: {
                    $0.id == project.id
                })
            else { throw ProjectResolver.notFound(project.name, in: transaction.index) }
            transaction.index.projects[position].binding = binding
        }
        return bound
    }

    /// What ties a project of the vault to one of the platform.
    static func binding(
        to platform: Project, _ access: PlatformSession.Access, _ workspace: Workspace
    ) throws -> VaultProject.Binding {
        let owner = platform.accountId ?? ""
        return VaultProject.Binding(
            origin: access.client.origin.description,
            accountID: try access.account?.userID ?? access.client.user().id,
            teamID: owner.hasPrefix("team_") ? owner : nil, teamSlug: workspace.options.team,
            projectID: platform.id, projectName: platform.name)
    }

    /// Refuses a second project of the vault for one of Vercel: either would overwrite and prune what is the
    /// other's.
    ///
    /// - Parameter project: The project that is to have it; nil for one that is to be made.
    static func checkOwner(
        of binding: VaultProject.Binding, is project: VaultProject?, _ index: VaultIndex
    ) throws {
        let isBound =
            project?.binding?.projectID == binding.projectID
            && project?.binding?.origin == binding.origin
        guard let owner = index.owner(of: binding), owner.id != project?.id, !isBound else {
            return
        }
        throw CommandError(
            .conflict,
            "\(binding.projectName) of Vercel belongs to \(owner.name) of the vault, and can have no second project there.",
            hint:
                "Nothing was changed. Use that one, with: zg-env link \(word: binding.projectName), or -p \(word: owner.name). It gets another name with: zg-env project rename \(word: owner.name) NAME"
        )
    }

    /// Holds options that name an origin, a team or an account against the binding of a project.
    ///
    /// - Throws: ``ExitCode/conflict`` when they contradict it.
    static func check(
        _ binding: VaultProject.Binding, of project: String, origin: APIOrigin, account: Account?,
        _ workspace: Workspace
    ) throws {
        func contradiction(_ what: String) -> CommandError {
            CommandError(
                .conflict, "\(project) is bound to another \(what).",
                hint:
                    "Leave the option out, or bind a second name with: zg-env link NAME --as LOCAL")
        }
        if origin.description != binding.origin { throw contradiction("API address") }
        if let team = workspace.options.team {
            let known =
                binding.teamID != nil && (binding.teamSlug == nil || binding.teamSlug == team)
            guard known || binding.teamID == team else { throw contradiction("team") }
        }
        if workspace.options.account != nil, let account,
            binding.teamID == nil, account.userID != binding.accountID
        {
            throw contradiction("account")
        }
    }
}

extension VaultIndex {
    /// The project of the vault that is bound to the same project of Vercel; the first by name.
    func owner(of binding: VaultProject.Binding) -> VaultProject? {
        projects.filter {
            $0.binding?.projectID == binding.projectID && $0.binding?.origin == binding.origin
        }.min { $0.name < $1.name }
    }
}
