internal import CommandLineKit
internal import EnvOperations
internal import HTTPClient
internal import JSON
internal import VercelAPI

/// Creates a deployment from an existing one's source, and follows it on request. Used by `redeploy` and
/// the promotion of previews.
struct DeploymentCreator {
    /// How a new deployment is followed.
    struct Following {
        /// Whether to wait until it is live.
        var waits = false
        /// Whether to show the build log.
        var showsLog = false
        /// The time limit for both.
        var limit = Duration.seconds(900)
        private(set) var hasLimit = false

        /// - Parameter defaultTimeout: What the help says about the limit if none is given.
        static func options(defaultTimeout: String = "15m") -> [OptionSpec] {
            [
                OptionSpec(flag: "wait", "Wait until the deployment is live"),
                OptionSpec(flag: "logs", "Wait, and show the build log on stderr"),
                OptionSpec(
                    "timeout", value: "TIME",
                    "Give up waiting after TIME (default \(defaultTimeout))", form: .duration),
            ]
        }

        init(_ command: ParsedCommand) {
            showsLog = command.has("logs")
            waits = showsLog || command.has("wait")
            if let time = command.duration("timeout") { (limit, hasLimit) = (time, true) }
        }

        /// Throws ``ExitCode/usage`` for `--logs` with `--json`.
        func check(_ options: GlobalOptions) throws {
            guard showsLog, options.json else { return }
            throw CommandError(
                .usage, "--logs and --json cannot be used together.",
                hint:
                    "Leave out --logs, and read the log with: zg-env deployment logs ID --follow --json"
            )
        }

        init(waits: Bool = false) { self.waits = waits }

        /// Throws ``ExitCode/usage`` for `--timeout` without `--wait` or `--logs`.
        func checkLimit() throws {
            guard !waits, hasLimit else { return }
            throw CommandError(
                .usage, "--timeout needs --wait or --logs.",
                hint: "Add --wait or --logs, or leave out --timeout.")
        }
    }

    /// The deployment whose source is built.
    let named: NamedDeployment
    let following: Following
    let workspace: Workspace
    /// Additional members of the result.
    let members: [JSONValue.Member]
    /// Notes what is live after the given deployment was created, and returns the project then.
    let noteLive: (String) -> Project?

    private var client: VercelClient { named.client }

    /// Creates the deployment, and waits if requested.
    func make(_ new: NewDeployment) throws -> CommandResult {
        var end: (deployment: Deployment, project: Project)?
        let result = try named.change(workspace, failed: { $0.failure != nil }) {
            try follow(new, &end)
        }
        if let end { named.keep(end.deployment, beside: end.project, workspace) }
        return result
    }

    private func follow(
        _ new: NewDeployment, _ end: inout (deployment: Deployment, project: Project)?
    ) throws -> CommandResult {
        let before = try client.project(named.project.id, withRollbackInfo: true)
        let previous = before.production?.id
        let made = try create(new)
        workspace.interaction.setInterruptionMessage(
            "Stopped by a signal. \(made.id) was created and continues on Vercel.",
            hint: "Check the deployment with: zg-env deployment show \(word: made.id)")
        guard following.waits else {
            workspace.note(
                "Created \(made.id) (\(made.state.rawValue.lowercased())). It is not live yet.")
            if made.target == "production", new.action != "promote", before.isRolledBack {
                workspace.note(
                    "Production is rolled back, so the deployment does not go live automatically. Once it is built, make it live with: zg-env promote \(word: made.id)"
                )
            }
            return result(made, current: false, previous: previous, failure: nil)
        }
        var last = made
        var isCurrent: Bool?
        var isAway = false
        let failure: CommandError?
        do {
            let start = workspace.context.waitingRoom.elapsed
            if following.showsLog { last = try showLog(of: made) }
            let spent = workspace.context.waitingRoom.elapsed - start
            let elapsed = ElapsedTime(workspace)
            defer { elapsed.hide() }
            let wait = VercelWait(
                client, limit: max(following.limit - spent, .zero), workspace, elapsed: elapsed)
            let (deployment, outcome) = try wait.deployment(last, project: named.project.id) {
                last = $0
                elapsed.show($0.state)
                elapsed.hide()
                // A closed stderr must not affect the result.
                workspace.note("\($0.id): \($0.state.rawValue.lowercased())")
            }
            elapsed.hide()
            last = deployment
            isCurrent = outcome == .ended(.live) && deployment.target == "production"
            failure = self.failure(deployment, outcome, before)
            if isCurrent == true { workspace.note("\(deployment.id) is live.") }
        } catch {
            // The deployment exists even if it cannot be read.
            var lost = CommandError(mapping: error)
            lost.message =
                "\(made.id) was created, and was \(last.state.rawValue) when last seen. \(lost.message)"
            failure = lost
            isAway = (error as? VercelAPIError)?.isTemporary ?? false
        }
        // Does not wait again after Vercel has not responded for so long.
        if !isAway, let project = noteLive(made.id) { end = (last, project) }
        return result(last, current: isCurrent, previous: previous, failure: failure)
    }

    private func showLog(of made: Deployment) throws -> Deployment {
        let context = workspace.context
        let style = Style(
            usesColor: TerminalDevice.isTerminal(context.messages.descriptor)
                && context.variable("NO_COLOR") == nil)
        let log = LogFollower(
            client: client, output: TextLogOutput(context.messages, style), workspace: workspace,
            limit: following.limit)
        do {
            return try log.show(made, follows: true)
        } catch is OutputError {
            // A closed output of the log must not end the wait.
            return made
        } catch let error as VercelAPIError where error.code != .cancelled {
            workspace.note(
                "Cannot show the log. \(CommandError(mapping: error).message) Still waiting for "
                    + "the deployment.")
            return made
        }
    }

    /// Creates the deployment. If the outcome is unknown, does not retry, since a second deployment would
    /// build the same source twice.
    private func create(_ new: NewDeployment) throws -> Deployment {
        let project = named.project
        let outcome: MarkedDeployments.Outcome
        do throws(VercelAPIError) {
            outcome = try MarkedDeployments(client, project: project.id).make(new)
        } catch {
            throw Self.refusal(error, new, project.name)
        }
        switch outcome {
        case .made(let deployment): return deployment
        case .unknown:
            throw CommandError(
                .unavailable,
                "Vercel did not respond, and may have created a deployment of \(project.name).",
                hint: "Check with: zg-env deployment list -p \(word: project.name)")
        case .notShown:
            throw CommandError(
                .unavailable,
                "Vercel did not respond to the request, and a check found no new deployment of \(project.name).",
                hint: "Run the command again. To avoid a duplicate build, check Vercel first.")
        }
    }

    /// Returns Vercel's refusal with a hint.
    private static func refusal(
        _ error: VercelAPIError, _ new: NewDeployment, _ project: String
    ) -> CommandError {
        var refusal = CommandError(mapping: error)
        switch error.code {
        case .conflict:
            refusal.hint =
                "Nothing was built. The project is busy or being transferred; try again in a minute."
        case .notPossible, .badRequest, .gone:
            // The deployment's state prevents it, as with a promotion; or the API call was retired.
            if error.code != .gone { refusal.code = .conflict }
            refusal.hint =
                "Nothing was built. \(new.sourceId) may be too old to be redeployed: deploy the commit again, or redeploy a newer deployment."
        case .notFound:
            refusal.hint =
                "Nothing was built. The deployment or its project was deleted. Check with: zg-env deployment list -p \(word: project)"
        default: break
        }
        return refusal
    }

    private func result(
        _ deployment: Deployment, current: Bool?, previous: String?, failure: CommandError?
    ) -> CommandResult {
        CommandResult(
            json: .object(
                DeploymentListing.members(deployment, current: current)
                    + [.init("previous", .string(orNull: previous))] + members),
            text: DeploymentListing.line(of: deployment),
            failure: failure)
    }

    /// Shows the last lines of a failed build's log, unless the log was shown. The log is only a help:
    /// if it cannot be read, the error still names the command that shows it.
    private func showTail(of deployment: Deployment) {
        guard !following.showsLog, !workspace.options.json, deployment.state.isFailed else {
            return
        }
        let tail = LogTail(12)
        let log = LogFollower(
            client: client, output: tail, workspace: workspace, limit: .seconds(20))
        guard (try? log.show(deployment, follows: false)) != nil, !tail.lines.isEmpty else {
            return
        }
        workspace.note("The end of the build log:")
        for line in tail.lines { workspace.note("  \(line.mark) \(line.text)") }
    }

    private func failure(
        _ deployment: Deployment, _ end: Waiting<VercelWait.DeploymentEnd>, _ before: Project
    ) -> CommandError? {
        switch end {
        case .ended(.live): return nil
        case .ended(.failed(let reason)):
            showTail(of: deployment)
            return DeploymentFailure.failure(deployment, client, logIsShown: following.showsLog)
                ?? CommandError(
                    .deploymentFailed,
                    "\(deployment.id) ended in state \(deployment.state.rawValue): \(CommandError.ending(reason))"
                )
        case .ended(.builtNotLive(let reason)):
            let why =
                before.isRolledBack
                ? "production is rolled back, so new deployments are not made live" : reason
            return CommandError(
                .deploymentFailed,
                "\(deployment.id) is built but not live: \(CommandError.ending(why))",
                hint:
                    "Make the deployment live with: zg-env deployment promote \(word: deployment.id)"
            )
        case .timedOut:
            return CommandError(
                .unavailable,
                "\(deployment.id) was still \(deployment.state.rawValue) after \(DurationText.text(following.limit)).",
                hint:
                    "The deployment continues on Vercel. Follow it with: zg-env deployment logs \(word: deployment.id) --follow, or wait longer with --timeout."
            )
        case .interrupted:
            return CommandError(
                .failed, "Stopped waiting for \(deployment.id), which continues on Vercel.")
        }
    }
}
