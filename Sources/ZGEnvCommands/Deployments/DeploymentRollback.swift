internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// `deployment rollback`: makes an earlier deployment live again.
struct DeploymentRollback: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["deployment", "rollback"], "Roll production back to an earlier deployment",
        discussion: """
            Without an argument, rolls back to the deployment that was live before, except one that \
            `rotate` rejected. The domains \
            move within seconds, without a build. The deployment keeps the variables it was built \
            with; the plan lists the variables that have changed since. Afterwards, new \
            deployments do not go live automatically until you promote a deployment.
            """,
        arguments: [
            NamedDeployment.optionalArgument
        ],
        options: [
            OptionSpec("reason", value: "TEXT", "The reason to show on Vercel"),
            OptionSpec(
                "timeout", value: "TIME", "Give up waiting after TIME (default 3m)", form: .duration
            ),
        ],
        examples: [
            .init("zg-env deployment rollback -p web", "roll back to the previous deployment"),
            .init(
                "zg-env deployment rollback dpl_1 --dry-run",
                "show the plan and the variables that differ"),
        ],
        exitCodes: DeploymentPromote.exitCodes,
        aliases: [["rollback"]])
    static let fields = """
        \(DeploymentListing.fields); previous: string | null (the deployment that was live)
        method: "domains" | null; \(ProductionSwitch.fields); dryRun?: true
        """

    private let deployment: String?
    private var limit = DeploymentPromote.defaultLimit
    private var reason: String?

    init(_ command: ParsedCommand) {
        deployment = command.argument("DEPLOYMENT")
        limit = command.duration("timeout") ?? limit
        reason = command.value("reason")
    }

    /// - Parameter deployment: Nil for the previously live deployment.
    init(to deployment: String?) { self.deployment = deployment }

    func run(in workspace: Workspace) throws -> CommandResult {
        let named =
            try deployment.map { try NamedDeployment($0, workspace) } ?? previous(workspace)
        if let refusal = named.actions.rollbackRefusal {
            throw CommandError(refusal, of: named.deployment.id)
        }
        return try ProductionSwitch(
            named: named, kind: .rollback, workspace: workspace, reason: reason
        ).run("Roll back to this deployment?", limit: limit)
    }

    /// Returns the deployments with new values of rotations that were reverted: they were live, but did
    /// not pass. Empty without the vault.
    private static func rejected(_ workspace: Workspace) throws -> Set<String> {
        guard let keys = try workspace.session.keysWithoutPrompt() else { return [] }
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        let reverted = try index.rotations().filter { $0.progress.direction == .backward }
        return Set(reverted.flatMap(\.progress.members).map(\.build.id))
    }

    /// Finds the newest previously live deployment that is older than the current one, and that no
    /// rotation rejected.
    private func previous(_ workspace: Workspace) throws -> NamedDeployment {
        let bound = try LinkedProject.anywhere(workspace)
        let client = bound.access.client
        let project = try client.project(bound.platform.id, withRollbackInfo: true)
        guard let current = project.production else {
            throw CommandError(
                .notFound,
                "\(project.name) has no live deployment to roll back from.",
                hint: "Make a deployment live with: zg-env deployment promote ID")
        }
        var filter = DeploymentFilter(project: project.id, target: "production", limit: 100)
        filter.states = [.ready]
        filter.isRollbackCandidate = true
        let rejected = try Self.rejected(workspace)
        let found = try client.deployments(filter).first { deployment in
            guard let time = deployment.createdAt, let currentTime = current.createdAt,
                time < currentTime, !rejected.contains(deployment.id)
            else { return false }
            return DeploymentActions(deployment, current: current.id).rollbackRefusal == nil
        }
        guard let found else {
            throw CommandError(
                .notFound, "\(project.name) has no earlier live deployment.",
                hint: "List deployments with: zg-env deployment list -t production")
        }
        return NamedDeployment(
            client: client, deployment: try client.deployment(found.id), project: project,
            local: bound.local)
    }
}
