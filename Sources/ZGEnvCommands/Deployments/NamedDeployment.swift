internal import CommandLineKit
internal import EnvOperations
internal import HTTPClient
internal import Vault
internal import VercelAPI

/// The deployment given as an argument, found in any team of the account.
struct NamedDeployment {
    /// A client for the scope in which the deployment was found.
    let client: VercelClient
    /// The deployment as returned by a request for it alone.
    let deployment: Deployment
    /// The current state of its project.
    let project: Project
    /// Its project in the vault, if any.
    let local: VaultProject?

    /// The argument of commands that take a deployment.
    static let argument = argument(.one)
    static let optionalArgument = argument(.optional)

    private static func argument(_ arity: ArgumentSpec.Arity) -> ArgumentSpec {
        ArgumentSpec(
            "DEPLOYMENT", arity, "latest, live, a branch, an ID or ID prefix, or a URL",
            completion: .dynamic(.deployment))
    }

    var isCurrent: Bool { project.production?.id == deployment.id }

    var actions: DeploymentActions {
        DeploymentActions(deployment, current: project.production?.id)
    }

    private static func local(
        of project: String, at origin: APIOrigin, _ workspace: Workspace
    ) throws -> VaultProject? {
        try workspace.session.indexWithoutPrompt()?.projects.first {
            $0.binding?.projectID == project && $0.binding?.origin == origin.description
        }
    }

    /// Searches the scope in use, then the project in use, and then, unless a team was given, the other
    /// scopes of the account.
    private static func find(
        _ name: String, from client: VercelClient, _ workspace: Workspace,
        orInProject other: () throws -> NamedDeployment?
    ) throws -> (client: VercelClient, deployment: Deployment) {
        do throws(VercelAPIError) {
            return (client, try client.deployment(name))
        } catch {
            guard error.code == .notFound else { throw error }
        }
        if isPrefix(name), let found = try other() {
            return (found.client, found.deployment)
        }
        if workspace.options.team == nil {
            let teams = (try? client.scoped(to: .personal).teams()) ?? []
            let scopes = [APIScope.personal] + teams.prefix(50).map { .team(id: $0.id) }
            for scope in scopes where scope != client.scope {
                let other = client.scoped(to: scope)
                if let found = try? other.deployment(name) { return (other, found) }
            }
        }
        throw CommandError(
            .notFound, "The deployment does not exist, or this account has no access to it.",
            hint: listHint(workspace))
    }

    /// Notes the live deployment for lists, if the vault has the project and is available.
    ///
    /// A failure is only a warning, since the work itself is done.
    ///
    /// - Parameters:
    ///   - looks: Whether to read first what someone else has changed on Vercel. Failures are ignored.
    ///   - removed: Returns the removed records that the live deployment was built without.
    /// - Returns: The project as it is now, with its latest promotion or rollback; nil after a failure.
    @discardableResult
    func noteLive(
        _ workspace: Workspace, looks: Bool = false,
        without removed: (String?) -> Set<Identifier> = { _ in [] }
    ) -> Project? {
        do {
            guard let local, try workspace.session.keysWithoutPrompt() != nil else { return nil }
            if looks { _ = try? VercelRefresh.look(at: local, workspace) }
            let now = try client.project(project.id, withRollbackInfo: true)
            let live = now.liveDeployment
            let (time, removed) = (workspace.context.now(), removed(live?.id))
            try workspace.session.note(live: live, at: time, of: local.id, without: removed)
            return now
        } catch {
            workspace.context.warn(
                "not-kept",
                "Could not record the live deployment. \(CommandError(mapping: error).message)"
            )
            return nil
        }
    }

    /// Caches a deployment that has just ended, and what is live beside it, for `status`. The cache is
    /// only a help: a failure is ignored.
    func keep(_ ended: Deployment, beside project: Project, _ workspace: Workspace) {
        guard let binding = local?.binding, let keys = try? workspace.session.keysWithoutPrompt(),
            let index = try? workspace.session.indexWithoutPrompt()
        else { return }
        let answer = DeploymentsResponse(
            current: project.production?.id, deployments: [ended],
            isRolledBack: project.isRolledBack)
        try? VercelResponses(workspace, keys: keys, index: index).keep(
            production: answer, of: binding, askedAt: workspace.context.now())
    }
}

extension NamedDeployment {
    /// Finds the deployment.
    ///
    /// - Parameter isExact: Whether to take only ids, host names and URLs: for what cannot be undone.
    /// - Throws: ``ExitCode/notFound`` if no team of the account has it.
    init(_ text: String, _ workspace: Workspace, isExact: Bool = false) throws {
        if !isExact, Self.words.contains(text) || Self.isBranchLike(text),
            let found = try Self.ofProject(text, workspace)
        {
            self = found
            return
        }
        let page = DeploymentPage(text)
        let name = page?.deployment ?? DeploymentPage.host(of: text)
        // Does not repeat the text, which may be a value typed in the wrong place.
        guard name.isPlainWord, (1...253).contains(name.utf8.count) else {
            throw CommandError(
                .usage, "Not a valid deployment ID, branch, host name or URL.",
                hint: "List the IDs with: zg-env deployment list -p NAME")
        }
        let reach = try ContextProject(workspace)
        let access = try VercelSession(workspace).access(reach.binding)
        let found = try Self.find(name, from: access.client, workspace) {
            isExact ? nil : try Self.ofProject(name, workspace)
        }
        guard let id = found.deployment.projectId else {
            throw CommandError(
                .failed,
                "Vercel does not report which project \(found.deployment.id) belongs to.")
        }
        let project = try found.client.project(id, withRollbackInfo: true)
        try page?.check(found.deployment, of: project)
        try reach.check(found.deployment, of: project, workspace)
        self.init(
            client: found.client, deployment: found.deployment, project: project,
            local: try Self.local(of: id, at: found.client.origin, workspace))
    }
}

extension String {
    /// Whether it has only ASCII letters, digits, hyphens, dots and underscores.
    var isPlainWord: Bool {
        utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
        }
    }
}

extension VercelAPIError {
    /// Vercel's message as a further sentence, or an empty string.
    var saying: String { vercelMessage.map { " Vercel says: \(CommandError.ending($0))" } ?? "" }
}

extension CommandError {
    /// The error for an action that a deployment's state does not allow.
    init(_ refusal: DeploymentActions.Refusal, of id: String, _ outcome: String? = nil) {
        self.init(
            .conflict, "\(id) \(refusal.reason).\(outcome.map { " \($0)" } ?? "")",
            hint: refusal.instead)
    }
}

extension NamedDeployment {
    /// Changes deployments of the project on Vercel, between two lines of the audit log.
    func change<R>(
        _ workspace: Workspace, failed: (R) -> Bool = { _ in false }, _ work: () throws -> R
    ) throws -> R {
        let act = {
            try workspace.withDeploymentChange(
                ofProject: project.id, at: client.origin, work)
        }
        return try workspace.recordingAct(
            [deployment.id], project: local?.name ?? project.name, act, failed: failed)
    }
}
