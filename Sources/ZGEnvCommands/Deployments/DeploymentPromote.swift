internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `deployment promote`: makes a deployment the one that serves production.
struct DeploymentPromote: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["deployment", "promote"], "Make a deployment serve production", section: "Platform",
        discussion: """
            One that was built for production gets production's domains, and nothing is built: it \
            keeps the variables it was built with. Any other is built anew with production's \
            variables, which takes as long as a build; --wait follows that until it is live. Which of \
            the two it is is said before it asks.
            """,
        arguments: [NamedDeployment.argument],
        options: DeploymentMaking.Following.options,
        examples: [
            .init("zg-env deployment promote dpl_1", "asks, and says when it is live"),
            .init("zg-env deployment promote dpl_1 --wait --yes --json", "from a script"),
        ],
        exitCodes: exitCodes)

    /// Those of a rollback too.
    static let exitCodes =
        [ExitCode.deploymentFailed.rawValue] + ExitCode.ofPlatform

    /// The longest time for domains to move: the platform itself forgets a request after that.
    static let defaultLimit = Duration.seconds(180)

    private let deployment: String
    private let following: DeploymentMaking.Following

    init(_ command: ParsedCommand) {
        deployment = command.required("DEPLOYMENT")
        following = .init(command)
    }

    /// Promotes this deployment, and does not wait for a build.
    init(_ deployment: String) { (self.deployment, following) = (deployment, .init()) }

    func run(in workspace: Workspace) throws -> CommandResult {
        try following.check(workspace.options)
        let named = try NamedDeployment(deployment, workspace)
        switch named.actions.promotion {
        case .refused(let refusal):
            throw CommandError(refusal, of: named.deployment.id, "Nothing was moved.")
        case .isCurrent:
            workspace.note("\(named.deployment.id) serves production already.")
            return CommandResult(
                json: .object(
                    DeploymentListing.members(named.deployment, current: true) + [
                        .init("previous", .string(named.deployment.id)), .init("method", .null),
                    ]),
                text: DeploymentListing.line(of: named.deployment))
        case .movesDomains:
            let move = ProductionMove(named: named, kind: .promotion, workspace: workspace)
            let older = try move.olderVariables()
            return try Self.confirmed(
                workspace, named, plan: move.plan(older),
                question: "Move production's domains to it?", method: "domains",
                more: ProductionMove.members(older)
            ) {
                move.warn(older)
                return try move.apply(
                    limit: following.hasLimit ? following.limit : Self.defaultLimit, older)
            }
        case .buildsAnew:
            try following.checkLimit()
            let project = named.project.name
            return try Self.confirmed(
                workspace, named,
                plan: [
                    "promote \(named.deployment.id) of \(project): it was built for \(DeploymentListing.target(of: named.deployment)), so it is built anew with production's variables"
                ],
                question: "Build it for production?", method: "build", more: []
            ) { try build(named, workspace) }
        }
    }

    /// Shows the plan, asks, and goes on.
    static func confirmed(
        _ workspace: Workspace, _ named: NamedDeployment, plan: [String], question: String,
        method: String, more: [JSONValue.Member], _ work: () throws -> CommandResult
    ) throws -> CommandResult {
        guard try !workspace.confirm(plan, question)
        else { return try work() }
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
        return try DeploymentMaking(
            named: named, following: following, workspace: workspace,
            members: [.init("method", "build")], keepLive: { _ in named.keepLive(workspace) }
        ).make(new)
    }
}
