internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// `redeploy`: builds a deployment's source anew, so that it gets the variables of now.
enum Redeploy: Command {
    static let spec = CommandSpec(
        ["redeploy"], "Build a deployment anew with the variables of now", section: "Platform",
        discussion: """
            Without an argument the newest deployment of the target, production by default. A fresh \
            build unless --with-cache. With --wait it ends when the deployment is built and, for \
            production, is the one that serves it.
            """,
        arguments: [
            ArgumentSpec(
                "DEPLOYMENT", .optional, "An id, a host name or a URL",
                completion: .dynamic(.deployment))
        ],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "with-cache", "Use what earlier builds kept"),
            OptionSpec(flag: "latest-commit", "Build the newest commit of the branch"),
            OptionSpec(flag: "wait", "Wait until it is live"),
            OptionSpec(
                "timeout", value: "TIME", "Longest time to wait: 15m by default", form: .duration),
        ],
        examples: [
            .init("zg-env redeploy -p web --wait --yes", "redeploy production and wait for it")
        ],
        exitCodes: [
            ExitCode.notFound.rawValue, ExitCode.unauthorized.rawValue,
            ExitCode.unavailable.rawValue, ExitCode.deploymentFailed.rawValue,
        ])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let command = invocation.command
        let source = try RedeploySource(invocation)
        let plan = [
            "redeploy \(source.deployment.id) of \(source.projectName) for \(source.targetName)"
                + (command.has("latest-commit") ? ", from the newest commit" : "")
        ]
        if try Confirmation.ask(invocation, plan: plan, question: "Redeploy it?") == .stopAfterPlan
        {
            let members = DeploymentListing.members(source.deployment, current: nil)
            return CommandResult(
                json: .object(members + [.init("dryRun", true)]),
                text: plan.map { "Would \(DisplayText.safe($0))\n" }.joined())
        }
        var new = NewDeployment(
            sourceId: source.deployment.id, projectName: source.projectName,
            target: source.apiTarget)
        new.customEnvironment = source.customEnvironment
        new.usesCache = command.has("with-cache")
        new.usesLatestCommit = command.has("latest-commit")
        return try changing(source, invocation) {
            try make(
                new, source, waits: command.has("wait"),
                limit: command.duration("timeout") ?? .seconds(900), invocation)
        }
    }

    /// Redeploys production after a push, and waits for it.
    static func afterPush(_ invocation: Invocation) throws -> CommandResult {
        let source = try RedeploySource(productionOf: invocation)
        let new = NewDeployment(
            sourceId: source.deployment.id, projectName: source.projectName, target: "production")
        return try changing(source, invocation) {
            try make(new, source, waits: true, limit: .seconds(900), invocation)
        }
    }

    private static func changing<R>(
        _ source: RedeploySource, _ invocation: Invocation, _ work: () throws -> R
    ) throws -> R {
        try invocation.changingDeployments(
            ofProject: source.projectID, at: source.client.origin, work)
    }

    private static func make(
        _ new: NewDeployment, _ source: RedeploySource, waits: Bool, limit: Duration,
        _ invocation: Invocation
    ) throws -> CommandResult {
        let client = source.client
        let previous = try client.project(source.projectID).production?.id
        let made = try create(new, source)
        guard waits else {
            try invocation.note("\(made.id) is \(made.state.rawValue); it is not live yet.")
            return CommandResult(
                json: json(made, current: false, previous: previous),
                text: (DeploymentListing.address(of: made) ?? made.id) + "\n")
        }
        var last = made
        let wait = DeploymentWait(
            client: client, waitingRoom: invocation.context.waitingRoom, limit: limit,
            changed: { deployment in
                last = deployment
                // Progress is no result: a stderr that is gone changes nothing.
                try? invocation.note("\(deployment.id) is \(deployment.state.rawValue).")
            })
        let failed: CommandError?
        var isCurrent = false
        do throws(VercelAPIError) {
            let (deployment, end) = try wait.wait(for: made, project: source.projectID)
            last = deployment
            isCurrent = end == .live && deployment.target == "production"
            failed = failure(deployment, end, limit, source)
        } catch {
            // It was made, whatever became of asking about it.
            var lost = CommandError(mapping: error)
            lost.message =
                "\(made.id) was made, and was \(last.state.rawValue) when last seen. \(lost.message)"
            failed = lost
        }
        do {
            try source.keepLive(invocation)
        } catch {
            invocation.context.warn(
                "not-kept",
                "The vault does not know yet what is live now. \(CommandError(mapping: error).message)"
            )
        }
        return CommandResult(
            json: json(last, current: isCurrent, previous: previous),
            text: (DeploymentListing.address(of: last) ?? last.id) + "\n", failure: failed)
    }

    /// Makes the deployment. Where nobody knows whether it was made it is looked for: a second one
    /// would only build the same again.
    private static func create(
        _ new: NewDeployment, _ source: RedeploySource
    ) throws -> Deployment {
        let client = source.client
        var filter = DeploymentFilter()
        filter.projectId = source.projectID
        filter.limit = 20
        let before = Set(try client.deployments(filter).map(\.id))
        do throws(VercelAPIError) {
            return try client.createDeployment(new)
        } catch {
            guard error.code == .outcomeUnknown else { throw error }
            let made = try client.deployments(filter).first {
                !before.contains($0.id) && $0.meta["originalDeploymentId"] == new.sourceId
            }
            if let made { return made }
            throw CommandError(
                .unavailable,
                "The platform did not answer, and shows no new deployment of \(DisplayText.safe(source.projectName)).",
                hint: "Run it again; look at the platform first if a build costs much.")
        }
    }

    private static func json(
        _ deployment: Deployment, current: Bool, previous: String?
    ) -> JSONValue {
        .object(
            DeploymentListing.members(deployment, current: current)
                + [.init("previous", .string(orNull: previous))])
    }

    private static func failure(
        _ deployment: Deployment, _ end: DeploymentWait.End, _ limit: Duration,
        _ source: RedeploySource
    ) -> CommandError? {
        switch end {
        case .live: return nil
        case .failed(let reason):
            return CommandError(
                .deploymentFailed,
                "\(deployment.id) ended in \(deployment.state.rawValue): "
                    + CommandError.ending(DisplayText.safe(reason)),
                hint:
                    "What served before still does. Look at its build log on the platform, then redeploy."
            )
        case .builtNotLive(let reason):
            return CommandError(
                .deploymentFailed,
                "\(deployment.id) is built, not live: "
                    + CommandError.ending(DisplayText.safe(reason)),
                hint: "Make it live with: zg-env deployment promote \(deployment.id)")
        case .timedOut:
            return CommandError(
                .unavailable,
                "\(deployment.id) was still \(deployment.state.rawValue) after \(DurationText.text(limit)).",
                hint: "It was left alone. Wait longer with --timeout.")
        case .interrupted:
            return CommandError(
                .failed, "Stopped waiting for \(deployment.id), which was left alone.")
        }
    }
}
