internal import CommandLineKit
internal import HTTPClient
internal import Sealing
internal import Vault
internal import VercelAPI

/// A Vercel project, with the vault project that is linked to it, if any.
struct LinkedProject {
    /// The connection to Vercel, in the project's scope.
    let access: VercelSession.Access
    /// The project's current state on Vercel.
    let platform: Project
    /// The linked vault project; nil without a vault.
    let local: VaultProject?
    /// The lists that were read along with the project; nil if it was read alone.
    var reading: Reading?

    /// Vercel's id of the user whose token is used, as far as the vault knows; else empty.
    var accountID: String {
        if let account = access.account { return account.knownUserID ?? "" }
        let linked = local?.binding?.accountID ?? ""
        return linked.hasPrefix("team_") ? "" : linked
    }

    struct Reading {
        let lists: ProjectReading
        /// Owns the values.
        let arena: SecretArena
        /// When the request was sent, by the local clock, in milliseconds since 1970.
        let askedAt: UInt64
        /// Vercel's time at the response, in milliseconds since 1970.
        let vercelTime: UInt64
    }

    /// Finds the vault project, and the Vercel project by id or, the first time, by name. Stores
    /// the id in the vault.
    ///
    /// - Parameter readsLists: Whether to read ``reading`` as well, if the Vercel id is known.
    /// - Throws: ``ExitCode/notFound`` if the vault or Vercel has no such project,
    ///   ``ExitCode/conflict`` if options contradict the project's link.
    static func inVault(
        _ workspace: Workspace, readsLists: Bool = false
    ) throws -> LinkedProject {
        let session = try VercelSession(workspace)
        let table = try workspace.session.table()
        let project = try ProjectResolver(workspace).existing(in: table)
        return try inVault(project, session, workspace, readsLists: readsLists)
    }

    /// Finds the Vercel project of a vault project.
    ///
    /// - Parameters:
    ///   - known: The Vercel project, if it was just read.
    ///   - readsLists: Whether to read ``reading`` as well, if the Vercel id is known.
    static func inVault(
        _ project: VaultProject, _ session: VercelSession, _ workspace: Workspace,
        knowing known: Project? = nil, readsLists: Bool = false
    ) throws -> LinkedProject {
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
                return LinkedProject(
                    access: access, platform: lists.project, local: project,
                    reading: Reading(
                        lists: lists, arena: arena, askedAt: askedAt,
                        vercelTime: access.client.vercelTime))
            }
            let platform =
                try known.flatMap { $0.id == binding.projectID ? $0 : nil }
                ?? present(binding, of: project, access, workspace) { () throws(VercelAPIError) in
                    try access.client.project(binding.projectID)
                }
            return LinkedProject(access: access, platform: platform, local: project)
        }
        let platform = try find(project.name, access, workspace)
        try checkOwner(
            of: try binding(to: platform, access, workspace), is: project,
            try workspace.session.table())
        let bound = try bind(project, to: platform, access, workspace)
        return LinkedProject(access: access, platform: platform, local: bound)
    }

    /// Reads from a linked project.
    ///
    /// - Throws: ``ExitCode/notFound`` if Vercel no longer has it, with the command that links the
    ///   vault project to its new place.
    private static func present<Found>(
        _ binding: VaultProject.Binding, of project: VaultProject,
        _ access: VercelSession.Access, _ workspace: Workspace,
        _ read: () throws(VercelAPIError) -> Found
    ) throws -> Found {
        do throws(VercelAPIError) {
            return try read()
        } catch {
            if let refusal = access.refusal(
                error, of: binding.projectName, id: binding.projectID)
            {
                throw refusal
            }
            guard error.code == .notFound else { throw error }
            let session = try VercelSession(workspace)
            if let other = try session.account(besides: access.account, withAccessTo: binding) {
                let used =
                    access.account.map { "The account \($0.name)" }
                    ?? "VERCEL_TOKEN"
                throw CommandError(
                    .unauthorized,
                    "\(used) has no access to the Vercel project of \(project.name), but the account \(other.name) does.",
                    hint:
                        "Use --account \(word: other.name), or make it the default with: zg-env account use \(word: other.name)"
                )
            }
            throw MissingProject.error(binding, of: project, access.client) ?? error
        }
    }

    /// Finds a project for a command that does not need a vault.
    ///
    /// - Throws: ``ExitCode/usage`` for a directory link that the vault has not approved.
    static func anywhere(_ workspace: Workspace) throws -> LinkedProject {
        let session = try VercelSession(workspace)
        let resolver = ProjectResolver(workspace)
        let reference = try resolver.reference()
        // Using a stored account opens the vault, which then also knows the project's team.
        let access = try session.access()
        let table = try workspace.session.tableWithoutPrompt()
        if let table, let project = try? resolver.existing(in: table), project.binding != nil {
            return try inVault(workspace)
        }
        switch reference {
        case .named(let name):
            return LinkedProject(
                access: access, platform: try find(name, access, workspace), local: nil)
        case .platform(let id, let organisation):
            return try scoped(access, id, organisation)
        case .link(let link):
            // With a vault, only links approved there count.
            if hasVault(workspace) { return try inVault(workspace) }
            guard case .platform(let id, let organisation) = link.target else {
                throw CommandError(
                    .notFound, "\(link.path) refers to a project that exists only in the vault.")
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
        _ access: VercelSession.Access, _ id: String, _ organisation: String
    ) throws -> LinkedProject {
        let scope: APIScope =
            organisation.hasPrefix("team_") ? .team(id: organisation) : access.client.scope
        let client = access.client.scoped(to: scope)
        return LinkedProject(
            access: .init(client: client, account: access.account),
            platform: try client.project(id), local: nil)
    }

    /// Finds a Vercel project by name.
    static func find(
        _ name: String, _ access: VercelSession.Access, _ workspace: Workspace
    ) throws -> Project {
        do throws(VercelAPIError) {
            return try access.client.project(name)
        } catch {
            if let refusal = access.refusal(error, of: name) { throw refusal }
            if error.isDenial, let team = workspace.options.team,
                let refusal = access.limitation(ofTeam: team)
            {
                throw refusal
            }
            guard error.code == .notFound else { throw error }
            let place =
                workspace.options.team.map { "team \($0)" } ?? "this account"
            throw CommandError(
                .notFound, "Vercel has no project \(name) in \(place).",
                hint: missingHint(name, workspace))
        }
    }

    /// Returns how to create a project that Vercel does not have, or only how to list the others if
    /// Vercel would not accept the name.
    private static func missingHint(_ name: String, _ workspace: Workspace) -> String {
        guard VercelProjectName.isValid(name), !name.hasPrefix("prj_") else {
            return "List projects with: zg-env project list"
        }
        let team = workspace.options.team.map { " --team \(word: $0)" } ?? ""
        return
            "Create it with: zg-env project create \(word: name)\(team), or list projects with: zg-env project list"
    }

    /// Stores the Vercel project's id with the vault project.
    static func bind(
        _ project: VaultProject, to platform: Project, _ access: VercelSession.Access,
        _ workspace: Workspace
    ) throws -> VaultProject {
        var bound = project
        bound.binding = try binding(to: platform, access, workspace)
        if workspace.options.dryRun { return bound }
        let binding = bound.binding
        try workspace.session.commit { transaction, _ in
            guard
                let position = transaction.index.projects.firstIndex(where: {
                    $0.id == project.id
                })
            else { throw ProjectResolver.notFound(project.name, in: transaction.index) }
            transaction.index.projects[position].binding = binding
        }
        return bound
    }

    /// Returns the link between a vault project and a Vercel project.
    static func binding(
        to platform: Project, _ access: VercelSession.Access, _ workspace: Workspace
    ) throws -> VaultProject.Binding {
        return VaultProject.Binding(
            origin: access.client.origin.description,
            accountID: try access.userID(orOwnerOf: platform),
            teamID: platform.teamID, teamSlug: workspace.options.team,
            projectID: platform.id, projectName: platform.name)
    }

    /// Refuses to link two vault projects to one Vercel project: each would overwrite and prune the
    /// other's variables.
    ///
    /// - Parameter project: The vault project to be linked; nil for a new one.
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
            "The Vercel project \(binding.projectName) is already linked to the vault project \(owner.name).",
            hint:
                "Use that vault project with: zg-env link \(word: binding.projectName), or -p \(word: owner.name). Rename it with: zg-env project rename \(word: owner.name) NAME"
        )
    }

    /// Checks options that choose an API URL, a team or an account against a project's link.
    ///
    /// - Throws: ``ExitCode/conflict`` if they contradict it.
    static func check(
        _ binding: VaultProject.Binding, of project: String, origin: APIOrigin, account: Account?,
        _ workspace: Workspace
    ) throws {
        func contradiction(_ what: String) -> CommandError {
            CommandError(
                .conflict, "\(project) is linked to another \(what).",
                hint:
                    "Leave out --team, --account or --api-url, or link under a second name with: zg-env link NAME --as LOCAL"
            )
        }
        if origin.description != binding.origin { throw contradiction("API URL") }
        if let team = workspace.options.team {
            let known =
                binding.teamID != nil && (binding.teamSlug == nil || binding.teamSlug == team)
            guard known || binding.teamID == team else { throw contradiction("team") }
        }
        if workspace.options.account != nil, let account,
            binding.teamID == nil, !account.owns(binding)
        {
            throw contradiction("account")
        }
    }
}

extension Project {
    /// Vercel's id of the team that owns the project; nil for a personal account, or if the response
    /// does not say.
    var teamID: String? { accountId.flatMap { $0.hasPrefix("team_") ? $0 : nil } }
}

extension VaultIndex {
    /// Returns the vault project linked to the same Vercel project; the first by name.
    func owner(of binding: VaultProject.Binding) -> VaultProject? {
        projects.filter {
            $0.binding?.projectID == binding.projectID && $0.binding?.origin == binding.origin
        }.min { $0.name < $1.name }
    }
}
