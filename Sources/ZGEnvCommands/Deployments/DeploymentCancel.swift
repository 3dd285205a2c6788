internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `deployment cancel`: stops a build.
struct DeploymentCancel: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["deployment", "cancel"], "Stop a deployment that is not built yet", section: "Platform",
        discussion: """
            One that is queued or building ends as CANCELED; what served before still does. One that \
            was cancelled already is no failure.
            """,
        arguments: [NamedDeployment.argument],
        examples: [.init("zg-env deployment cancel dpl_1 --yes", "from a script")],
        exitCodes: ExitCode.ofPlatform)

    private let deployment: String

    init(_ command: ParsedCommand) { deployment = command.required("DEPLOYMENT") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let named = try NamedDeployment(self.deployment, workspace)
        let deployment = named.deployment
        if deployment.state == .canceled {
            workspace.note("\(deployment.id) was cancelled already.")
            return result(deployment)
        }
        if let refusal = named.actions.cancellationRefusal {
            throw CommandError(refusal, of: deployment.id, "Nothing was stopped.")
        }
        let plan = [
            "cancel \(deployment.id) of \(named.project.name) for \(DeploymentListing.target(of: deployment)), which is \(deployment.state.rawValue)"
        ]
        if try !workspace.confirm(plan, "Cancel it?") {
            return CommandResult(
                json: .object(
                    DeploymentListing.members(deployment, current: named.isCurrent) + [
                        .init("dryRun", true)
                    ]),
                text: plan.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
        }
        let ended = try workspace.changingDeployments(
            ofProject: named.project.id, at: named.client.origin
        ) { try cancel(named) }
        guard ended.state == .canceled else {
            throw CommandError(
                DeploymentActions(ended, current: named.project.production?.id)
                    .cancellationRefusal
                    ?? .notStopped, of: ended.id, "It was not stopped.")
        }
        workspace.note("\(ended.id) is CANCELED.")
        return result(ended)
    }

    /// Cancels it, and looks what it is then: between the question and the answer it may have ended.
    private func cancel(_ named: NamedDeployment) throws -> Deployment {
        let id = named.deployment.id
        do throws(VercelAPIError) {
            _ = try named.client.cancelDeployment(id)
        } catch {
            let isRefusal = [.badRequest, .conflict, .notPossible].contains(error.code)
            guard
                isRefusal || [.unavailable, .outcomeUnknown, .malformedAnswer].contains(error.code)
            else { throw error }
            // What it is now says more than an answer that was lost.
            let seen = try named.client.deployment(id)
            if seen.state.isFinal { return seen }
            guard isRefusal else { throw error }
            throw CommandError(
                .conflict,
                "The platform does not cancel \(id), which is \(seen.state.rawValue)."
                    + error.saying,
                hint:
                    "It goes on. Try again, or follow it: zg-env deployment logs \(word: id) --follow"
            )
        }
        return try named.client.deployment(id)
    }

    private func result(_ deployment: Deployment) -> CommandResult {
        CommandResult(
            json: DeploymentListing.json(deployment, current: false),
            text: "")
    }
}

extension DeploymentActions.Refusal {
    /// The platform said that it was, and shows something else.
    fileprivate static var notStopped: Self {
        .init(
            reason: "goes on, though the platform answered that it was cancelled",
            instead: "Look at it on the platform's own page, or try again.")
    }
}
