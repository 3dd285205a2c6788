internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// A deployment that an argument names, wherever in the account it is: no project is needed.
struct NamedDeployment {
    /// The way to the platform, in the scope that the deployment was found in.
    let client: VercelClient
    /// As the platform shows it by itself.
    let deployment: Deployment
    /// Its project as it is now.
    let project: Project
    /// The vault's project for it, where there is one.
    let local: VaultProject?

    /// The argument of every command that takes one.
    static let argument = ArgumentSpec(
        "DEPLOYMENT", .one, "An id, a host name or a URL", completion: .dynamic(.deployment))

    /// Whether it serves production.
    var isCurrent: Bool { project.production?.id == deployment.id }

    /// What may be done with it.
    var actions: DeploymentActions {
        DeploymentActions(deployment, current: project.production?.id)
    }

    /// Finds the deployment.
    ///
    /// - Throws: ``ExitCode/notFound`` where no team of the account has it.
    init(_ text: String, _ workspace: Workspace) throws {
        let page = DeploymentPage(text)
        let name = page?.deployment ?? DeploymentPage.host(of: text)
        let isPlain = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        // Not repeated: what stands in the place of a deployment may be a value gone astray.
        guard isPlain, (1...253).contains(name.utf8.count) else {
            throw CommandError(
                .usage, "That is no id, host name or URL of a deployment.",
                hint: "See the ids with: zg-env deployment list -p NAME")
        }
        let reach = try ProjectInReach(workspace)
        let access = try PlatformSession(workspace).access(reach.binding)
        let found = try Self.find(name, from: access.client, workspace)
        (client, deployment) = found
        guard let id = found.deployment.projectId else {
            throw CommandError(
                .failed,
                "The platform does not say which project \(found.deployment.id) belongs to.")
        }
        project = try found.client.project(id, withRollbackInfo: true)
        try page?.check(deployment, of: project)
        try reach.check(deployment, of: project, workspace)
        local = try Self.local(of: id, at: found.client.origin, workspace)
    }

    /// Names the parts that are known already.
    init(
        client: VercelClient, deployment: Deployment, project: Project, local: VaultProject?
    ) {
        self.client = client
        self.deployment = deployment
        self.project = project
        self.local = local
    }

    private static func local(
        of project: String, at origin: APIOrigin, _ workspace: Workspace
    ) throws -> VaultProject? {
        try workspace.session.indexAtHand()?.projects.first {
            $0.binding?.projectID == project && $0.binding?.origin == origin.description
        }
    }

    /// Looks in the scope in use, and then, unless a team was named, in the others of the account.
    private static func find(
        _ name: String, from client: VercelClient, _ workspace: Workspace
    ) throws -> (client: VercelClient, deployment: Deployment) {
        do throws(VercelAPIError) {
            return (client, try client.deployment(name))
        } catch {
            guard error.code == .notFound else { throw error }
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
            .notFound, "This account sees no deployment of that id or address.",
            hint: "See what is there with: zg-env deployment list -p NAME")
    }

    /// Keeps which deployment serves production, where the vault has the project and is at hand.
    ///
    /// Done after the work: what was done stays done, so that a vault that cannot be written is a
    /// warning.
    ///
    /// - Parameters:
    ///   - looks: Whether to see first what somebody changed on Vercel meanwhile, which is not what the
    ///     vault has. Without an answer that is told by the next look.
    ///   - removed: The removed records that this deployment was built without.
    func keepLive(
        _ workspace: Workspace, looks: Bool = false,
        without removed: (String?) -> Set<Identifier> = { _ in [] }
    ) {
        do {
            guard let local, let keys = try workspace.session.keysAtHand() else {
                return
            }
            if looks { _ = try? PlatformRefresh.look(at: local, workspace) }
            let live = try client.project(project.id).liveDeployment
            let (time, removed) = (workspace.context.now(), removed(live?.id))
            try workspace.session.update(with: keys) {
                $0.see(live: live, of: local.id, time: time, without: removed)
            }
        } catch {
            workspace.context.warn(
                "not-kept",
                "The vault does not know yet what is live now. \(CommandError(mapping: error).message)"
            )
        }
    }
}

extension VercelAPIError {
    /// The platform's own words as a further sentence; empty where it has none.
    var saying: String { platformMessage.map { " It says: \(CommandError.ending($0))" } ?? "" }
}

extension CommandError {
    /// An action that a deployment does not allow as it is.
    init(_ refusal: DeploymentActions.Refusal, of id: String, _ nothing: String) {
        self.init(
            .conflict, "\(id) \(refusal.reason). \(nothing)",
            hint: refusal.instead)
    }
}
