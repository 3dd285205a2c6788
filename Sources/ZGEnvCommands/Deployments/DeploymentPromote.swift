internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `deployment promote`: makes a deployment the one that serves production.
enum DeploymentPromote: Command {
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

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let following = try DeploymentMaking.Following(invocation)
        let named = try NamedDeployment(invocation)
        switch named.actions.promotion {
        case .refused(let refusal):
            throw CommandError(refusal, of: named.deployment.id, "Nothing was moved.")
        case .isCurrent:
            try invocation.note("\(named.deployment.id) serves production already.")
            return CommandResult(
                json: .object(
                    DeploymentListing.members(named.deployment, current: true) + [
                        .init("previous", .string(named.deployment.id)), .init("method", .null),
                    ]),
                text: DeploymentListing.line(of: named.deployment))
        case .movesDomains:
            let move = ProductionMove(named: named, kind: .promotion, invocation: invocation)
            let older = try move.olderVariables()
            return try confirmed(
                invocation, named, plan: move.plan(older),
                question: "Move production's domains to it?", method: "domains",
                more: ProductionMove.members(older)
            ) {
                move.warn(older)
                return try move.apply(
                    limit: invocation.command.duration("timeout") ?? defaultLimit, older)
            }
        case .buildsAnew:
            try following.checkLimit(invocation)
            let project = named.project.name
            return try confirmed(
                invocation, named,
                plan: [
                    "promote \(named.deployment.id) of \(project): it was built for \(DeploymentListing.target(of: named.deployment)), so it is built anew with production's variables"
                ],
                question: "Build it for production?", method: "build", more: []
            ) { try build(named, following, invocation) }
        }
    }

    /// Shows the plan, asks, and goes on.
    static func confirmed(
        _ invocation: Invocation, _ named: NamedDeployment, plan: [String], question: String,
        method: String, more: [JSONValue.Member], _ work: () throws -> CommandResult
    ) throws -> CommandResult {
        guard try Confirmation.ask(invocation, plan: plan, question: question) == .stopAfterPlan
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

    private static func build(
        _ named: NamedDeployment, _ following: DeploymentMaking.Following,
        _ invocation: Invocation
    ) throws -> CommandResult {
        var new = NewDeployment(
            sourceId: named.deployment.id, projectName: named.project.name, target: "production")
        new.action = "promote"
        return try DeploymentMaking(
            named: named, following: following, invocation: invocation,
            members: [.init("method", "build")], keepLive: { _ in named.keepLive(invocation) }
        ).make(new)
    }
}
