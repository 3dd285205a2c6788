internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `deployment promote`: makes a deployment live.
struct DeploymentPromote: Command {
    static let vaultUse = VaultUse(need: .withoutToken, picksProject: true)
    static let spec = CommandSpec(
        ["deployment", "promote"], "Make a deployment live",
        discussion: """
            A deployment built for production gets the production domains without a build, and \
            keeps the variables it was built with. Any other deployment is rebuilt with \
            production's variables; --wait follows the build until the new deployment is live. The \
            plan shows which of these will happen.
            """,
        arguments: [NamedDeployment.argument],
        options: DeploymentCreator.Following.options(
            defaultTimeout: "15m for a build, 3m to move domains"),
        examples: [
            .init(
                "zg-env deployment promote dpl_1", "confirm, then wait until the domains have moved"
            ),
            .init("zg-env deployment promote dpl_1 --wait --yes --json", "promote in a script"),
        ],
        exitCodes: exitCodes,
        aliases: [["promote"]])
    static let fields = """
        \(DeploymentListing.fields); previous: string | null (the deployment that was live)
        method: "domains" | "build" | null; \(ProductionSwitch.fields); dryRun?: true
        """

    /// The exit codes of a promotion and of a rollback.
    static let exitCodes =
        [ExitCode.deploymentFailed.rawValue] + ExitCode.ofVercel

    /// The time limit for moving domains, after which Vercel itself drops a request.
    static let defaultLimit = Duration.seconds(180)

    private let deployment: String
    private let following: DeploymentCreator.Following

    init(_ command: ParsedCommand) {
        deployment = command.required("DEPLOYMENT")
        following = .init(command)
    }

    /// Promotes a deployment without waiting for a build.
    init(_ deployment: String) { (self.deployment, following) = (deployment, .init()) }

    func run(in workspace: Workspace) throws -> CommandResult {
        try following.check(workspace.options)
        let named = try NamedDeployment(deployment, workspace)
        switch named.actions.promotion {
        case .refused(let refusal):
            throw CommandError(refusal, of: named.deployment.id)
        case .isCurrent:
            workspace.note("\(named.deployment.id) is already live.")
            return CommandResult(
                json: .object(
                    DeploymentListing.members(named.deployment, current: true) + [
                        .init("previous", .string(named.deployment.id)), .init("method", .null),
                    ]),
                text: DeploymentListing.line(of: named.deployment))
        case .movesDomains:
            return try ProductionSwitch(named: named, kind: .promotion, workspace: workspace).run(
                "Move the production domains to this deployment?",
                limit: following.hasLimit ? following.limit : Self.defaultLimit)
        case .rebuildsFromSource:
            try following.checkLimit()
            let project = named.project.name
            return try Self.confirmed(
                workspace, named,
                plan: [
                    "promote \(named.deployment.id) of \(project) (built for \(DeploymentListing.target(of: named.deployment))) by rebuilding it with production's variables"
                ],
                question: "Rebuild this deployment for production?", method: "build"
            ) { try build(named, workspace) }
        }
    }

    /// Shows the plan, asks, and runs `work`.
    static func confirmed(
        _ workspace: Workspace, _ named: NamedDeployment, plan: [String], question: String,
        method: String, more: [JSONValue.Member] = [], _ work: () throws -> CommandResult
    ) throws -> CommandResult {
        if try workspace.confirm(plan, question) { return try work() }
        let members = DeploymentListing.members(named.deployment, current: named.isCurrent)
        return CommandResult(
            json: .object(
                members + [
                    .init("previous", .string(orNull: named.project.production?.id)),
                    .init("method", .string(method)),
                ] + more + [.init("dryRun", true)]),
            text: DeploymentListing.would(plan))
    }

    private func build(
        _ named: NamedDeployment, _ workspace: Workspace
    ) throws -> CommandResult {
        var new = NewDeployment(
            sourceId: named.deployment.id, projectName: named.project.name, target: "production")
        new.action = "promote"
        return try DeploymentCreator(
            named: named, following: following, workspace: workspace,
            members: [.init("method", "build")], noteLive: { _ in named.noteLive(workspace) }
        ).make(new)
    }
}
