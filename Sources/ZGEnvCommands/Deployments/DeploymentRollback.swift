internal import CommandLineKit
internal import EnvOperations
internal import VercelAPI

/// `deployment rollback`: production goes back to an earlier deployment at once.
struct DeploymentRollback: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["deployment", "rollback"], "Take production back to an earlier deployment",
        section: "Platform",
        discussion: """
            Without an argument the deployment that served production before the current one. Domains \
            move and nothing is built, so it is done within seconds. The deployment keeps the \
            variables it was built with: those that were changed since are named beforehand. \
            Afterwards the platform makes no new deployment live by itself until one is promoted.
            """,
        arguments: [
            ArgumentSpec(
                "DEPLOYMENT", .optional, "An id, a host name or a URL",
                completion: .dynamic(.deployment))
        ],
        options: [
            OptionSpec("reason", value: "TEXT", "What the platform's pages show as the reason"),
            OptionSpec(
                "timeout", value: "TIME", "Longest time to wait: 3m by default", form: .duration),
        ],
        examples: [
            .init("zg-env deployment rollback -p web", "back to what served before"),
            .init("zg-env deployment rollback dpl_1 --dry-run", "what would go back with it"),
        ],
        exitCodes: DeploymentPromote.exitCodes)

    private let deployment: String?
    private var limit = DeploymentPromote.defaultLimit
    private var reason: String?

    init(_ command: ParsedCommand) {
        deployment = command.argument("DEPLOYMENT")
        limit = command.duration("timeout") ?? limit
        reason = command.value("reason")
    }

    /// - Parameter deployment: nil for the one that served production before.
    init(to deployment: String?) { self.deployment = deployment }

    func run(in workspace: Workspace) throws -> CommandResult {
        let named: NamedDeployment
        if let deployment {
            named = try NamedDeployment(deployment, workspace)
        } else {
            named = try previous(workspace)
        }
        if let refusal = named.actions.rollbackRefusal {
            throw CommandError(refusal, of: named.deployment.id, "Nothing was moved.")
        }
        let move = ProductionMove(
            named: named, kind: .rollback, workspace: workspace,
            reason: reason)
        let older = try move.olderVariables()
        return try DeploymentPromote.confirmed(
            workspace, named, plan: move.plan(older), question: "Roll back to it?",
            method: "domains", more: ProductionMove.members(older)
        ) {
            move.warn(older)
            return try move.apply(
                limit: limit, older)
        }
    }

    /// The newest deployment that served production before the current one was made.
    private func previous(_ workspace: Workspace) throws -> NamedDeployment {
        let bound = try BoundProject.anywhere(workspace)
        let client = bound.access.client
        let project = try client.project(bound.platform.id, withRollbackInfo: true)
        guard let current = project.production else {
            throw CommandError(
                .notFound,
                "\(project.name) serves nothing in production: there is no way back from that.",
                hint: "Make a deployment live with: zg-env deployment promote ID")
        }
        var filter = DeploymentFilter()
        filter.projectId = project.id
        filter.target = "production"
        filter.states = [.ready]
        filter.isRollbackCandidate = true
        filter.limit = 100
        let made = current.createdAt
        let found = try client.deployments(filter).first { deployment in
            guard let time = deployment.createdAt, let made, time < made else { return false }
            return DeploymentActions(deployment, current: current.id).rollbackRefusal == nil
        }
        guard let found else {
            throw CommandError(
                .notFound, "\(project.name) has no earlier deployment that served production.",
                hint: "See what there is: zg-env deployment list -t production")
        }
        return NamedDeployment(
            client: client, deployment: try client.deployment(found.id), project: project,
            local: bound.local)
    }
}
