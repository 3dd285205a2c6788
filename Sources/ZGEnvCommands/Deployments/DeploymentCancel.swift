internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `deployment cancel`: cancels a deployment that is not built yet.
struct DeploymentCancel: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["deployment", "cancel"], "Cancel a queued or building deployment",
        discussion: """
            A queued or building deployment becomes CANCELED, and the live deployment does not \
            change. If the deployment was already canceled, the command succeeds.
            """,
        arguments: [NamedDeployment.optionalArgument],
        examples: [.init("zg-env deployment cancel dpl_1 --yes", "cancel in a script")],
        exitCodes: ExitCode.ofVercel)
    static let fields = "\(DeploymentListing.fields); dryRun?: true"

    private let deployment: String

    init(_ command: ParsedCommand) { deployment = command.argument("DEPLOYMENT") ?? "latest" }

    func run(in workspace: Workspace) throws -> CommandResult {
        let named = try NamedDeployment(self.deployment, workspace)
        let deployment = named.deployment
        if deployment.state == .canceled {
            workspace.note("\(deployment.id) was already canceled.")
            return result(deployment)
        }
        if let refusal = named.actions.cancellationRefusal {
            throw CommandError(refusal, of: deployment.id)
        }
        let plan = [
            "cancel \(deployment.id) of \(named.project.name) for \(DeploymentListing.target(of: deployment)) (\(deployment.state.rawValue))"
        ]
        if try !workspace.confirm(plan, "Cancel this deployment?") {
            return CommandResult(
                json: .object(
                    DeploymentListing.members(deployment, current: named.isCurrent) + [
                        .init("dryRun", true)
                    ]),
                text: DisplayText.lines(plan, after: "Would "))
        }
        let ended = try named.change(workspace, failed: { $0.state != .canceled }) {
            try cancel(named)
        }
        guard ended.state == .canceled else {
            throw CommandError(
                DeploymentActions(ended, current: named.project.production?.id)
                    .cancellationRefusal
                    ?? .notCanceled, of: ended.id, "The deployment was not canceled.")
        }
        workspace.note("Canceled \(ended.id).")
        return result(ended)
    }

    /// Cancels the deployment and returns its state, since it may have ended in the meantime.
    private func cancel(_ named: NamedDeployment) throws -> Deployment {
        let id = named.deployment.id
        do throws(VercelAPIError) {
            _ = try named.client.cancelDeployment(id)
        } catch {
            let isRefusal = [.badRequest, .conflict, .notPossible].contains(error.code)
            guard
                isRefusal || [.unavailable, .outcomeUnknown, .malformedAnswer].contains(error.code)
            else { throw error }
            // The current state tells more than a lost response.
            let seen = try named.client.deployment(id)
            if seen.state.isFinal { return seen }
            guard isRefusal else { throw error }
            throw CommandError(
                .conflict,
                "Vercel refused to cancel \(id) (\(seen.state.rawValue))."
                    + error.saying,
                hint:
                    "The deployment continues. Try again, or follow it with: zg-env deployment logs \(word: id) --follow"
            )
        }
        return try named.client.deployment(id)
    }

    private func result(_ deployment: Deployment) -> CommandResult {
        CommandResult(json: DeploymentListing.json(deployment, current: false))
    }
}

extension DeploymentActions.Refusal {
    /// The refusal for a deployment that Vercel reported as canceled and that still runs.
    fileprivate static var notCanceled: Self {
        .init(
            reason: "is still running, although Vercel reported it as canceled",
            instead: "Check the deployment on Vercel, or try again.")
    }
}
