internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `deployment show`: shows a deployment and the possible actions.
struct DeploymentShow: Command {
    static let vaultUse = VaultUse(need: .withoutToken, picksProject: true)
    static let spec = CommandSpec(
        ["deployment", "show"], "Show a deployment and its available actions",
        discussion: """
            Finds the deployment by ID, host name or URL in any team of the account. For each \
            action that is not available, shows the reason and an alternative.
            """,
        arguments: [NamedDeployment.optionalArgument],
        examples: [
            .init(
                "zg-env deployment show dpl_1",
                "show its state, trigger, URLs and available actions")
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        \(DeploymentListing.listedFields); project: string; substate, source: string | null
        buildingAt, readyAt: time | null; aliases: [string]
        aliasError, errorMessage, errorStep, inspectorUrl: string | null
        actions: [{ action: string; possible: boolean; does, reason, instead: string | null }]
        """

    private let deployment: String

    init(_ command: ParsedCommand) { deployment = command.argument("DEPLOYMENT") ?? "latest" }

    func run(in workspace: Workspace) throws -> CommandResult {
        let named = try NamedDeployment(deployment, workspace)
        let look = TerminalStyle(workspace.context)
        return CommandResult(
            json: json(named),
            text: text(named, now: workspace.context.now(), style: look.style))
    }

    private func json(_ named: NamedDeployment) -> JSONValue {
        let deployment = named.deployment
        let actions = actions(named).map { action -> JSONValue in
            [
                "action": .string(action.name), "possible": .bool(action.refusal == nil),
                "does": .string(orNull: action.refusal == nil ? action.does : nil),
                "reason": .string(orNull: action.refusal?.reason),
                "instead": .string(orNull: action.refusal?.instead),
            ]
        }
        return .object(
            DeploymentListing.listed(deployment, current: named.isCurrent) + [
                .init("project", .string(named.project.name)),
                .init("substate", .string(orNull: deployment.substate?.rawValue)),
                .init("source", .string(orNull: deployment.source)),
                .init("buildingAt", .time(orNull: deployment.buildingAt?.milliseconds)),
                .init("readyAt", .time(orNull: deployment.readyAt?.milliseconds)),
                .init("aliases", .strings(deployment.aliases)),
                .init("aliasError", .string(orNull: deployment.aliasError)),
                .init("errorMessage", .string(orNull: deployment.errorMessage)),
                .init("errorStep", .string(orNull: deployment.errorStep)),
                .init("inspectorUrl", .string(orNull: deployment.inspectorURL)),
                .init("actions", .array(actions)),
            ])
    }

    private struct Action {
        let name: String
        let does: String
        let refusal: DeploymentActions.Refusal?
    }

    private func actions(_ named: NamedDeployment) -> [Action] {
        let actions = named.actions
        let promotes =
            actions.promotion == .rebuildsFromSource
            ? "rebuilds the deployment with production's variables"
            : "moves the production domains to the deployment, without a build"
        return [
            Action(name: "promote", does: promotes, refusal: actions.promotionRefusal),
            Action(
                name: "rollback", does: "moves the production domains back to the deployment",
                refusal: actions.rollbackRefusal),
            Action(name: "redeploy", does: "rebuilds the same source", refusal: nil),
            Action(
                name: "cancel", does: "stops the build", refusal: actions.cancellationRefusal),
            Action(
                name: "delete", does: "deletes the deployment and its aliases",
                refusal: actions.deletionRefusal),
        ]
    }

    private func text(_ named: NamedDeployment, now: UInt64, style: Style) -> String {
        let deployment = named.deployment
        var table = Table([.init(""), .init("")])
        func row(_ name: String, _ text: String?, _ role: Style.Role = .plain) {
            guard let text, !text.isEmpty else { return }
            table.append([.init(name, as: .dim), .init(text, as: role)])
        }
        func time(_ time: APITime?) -> String? {
            time.map {
                TimeText.utc($0.milliseconds) + ", "
                    + TimeText.age(of: $0.milliseconds, at: Int64(clamping: now))
            }
        }
        row("deployment", deployment.id, .heading)
        row("project", named.project.name)
        row(
            "state", DeploymentListing.state(of: deployment, isCurrent: named.isCurrent),
            DeploymentListing.role(of: deployment, isCurrent: named.isCurrent))
        row("error", deployment.errorMessage, .bad)
        row("target", DeploymentListing.target(of: deployment))
        row("url", DeploymentListing.address(of: deployment))
        row("created", time(deployment.createdAt))
        row("built in", DeploymentListing.buildTime(of: deployment, now: now))
        row("cause", DeploymentListing.cause(of: deployment))
        row("branch", deployment.branch)
        row("commit", deployment.commit)
        row("message", DeploymentListing.firstLine(deployment.commitMessage ?? ""))
        row("author", deployment.author ?? deployment.creator)
        for alias in deployment.aliases { row("alias", alias) }
        row("alias error", deployment.aliasError, .bad)
        row("page", deployment.inspectorURL)
        for action in actions(named) {
            let text =
                action.refusal.map { "not possible: the deployment \($0.reason). \($0.instead)" }
                ?? action.does
            row(action.name, text, action.refusal == nil ? .plain : .dim)
        }
        return table.text(width: nil, style: style)
    }
}
