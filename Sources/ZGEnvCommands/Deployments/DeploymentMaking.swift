internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// Makes a deployment of an existing one's source, and follows it as far as is wanted: what `redeploy`
/// and the promotion of a preview have in common.
struct DeploymentMaking {
    /// How far a new deployment is followed.
    struct Following {
        /// Whether to wait until it is live.
        var waits = false
        /// Whether to show its log meanwhile.
        var showsLog = false
        /// The longest time for both.
        var limit = Duration.seconds(900)
        private(set) var hasLimit = false

        static let options = [
            OptionSpec(flag: "wait", "Wait until it is live"),
            OptionSpec(flag: "logs", "Wait, and show the build log on stderr meanwhile"),
            OptionSpec(
                "timeout", value: "TIME", "Longest time to wait: 15m by default", form: .duration),
        ]

        /// What the options ask for.
        init(_ command: ParsedCommand) {
            showsLog = command.has("logs")
            waits = showsLog || command.has("wait")
            if let time = command.duration("timeout") { (limit, hasLimit) = (time, true) }
        }

        /// - Throws: ``ExitCode/usage`` for a log beside one JSON value.
        func check(_ options: GlobalOptions) throws {
            guard showsLog, options.json else { return }
            throw CommandError(
                .usage, "--logs and --json do not go together: the result is one JSON value.",
                hint:
                    "Nothing was done. Leave --logs out, and read the log with: zg-env deployment logs ID --follow --json"
            )
        }

        init(waits: Bool = false) { self.waits = waits }

        /// Refuses a time limit for nothing: whoever gives one expects a result that has been waited for.
        ///
        /// - Throws: ``ExitCode/usage``.
        func checkLimit() throws {
            guard !waits, hasLimit else { return }
            throw CommandError(
                .usage, "--timeout limits the waiting, and nothing is waited for.",
                hint: "Nothing was done. Say --wait or --logs too, or leave --timeout out.")
        }
    }

    /// What it is made of.
    let named: NamedDeployment
    let following: Following
    let workspace: Workspace
    /// Further members of the result.
    let members: [JSONValue.Member]
    /// Keeps in the vault what is live now, after this deployment was made.
    let keepLive: (String) -> Void

    private var client: VercelClient { named.client }

    /// Makes the deployment, waits as asked, and says what became of it.
    func make(_ new: NewDeployment) throws -> CommandResult {
        try workspace.changingDeployments(ofProject: named.project.id, at: client.origin) {
            try follow(new)
        }
    }

    private func follow(_ new: NewDeployment) throws -> CommandResult {
        let previous = try client.project(named.project.id).production?.id
        let made = try create(new)
        workspace.interaction.setLastWords(
            "Stopped by a signal. \(made.id) was made, and is left alone.",
            hint: "See what became of it: zg-env deployment show \(word: made.id)")
        guard following.waits else {
            workspace.note("\(made.id) is \(made.state.rawValue); it is not live yet.")
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
            let wait = PlatformWait(
                client, limit: max(following.limit - spent, .zero), workspace)
            let (deployment, outcome) = try wait.deployment(last, project: named.project.id) {
                last = $0
                // Progress is no result: a stderr that is gone changes nothing.
                workspace.note("\($0.id) is \($0.state.rawValue).")
            }
            last = deployment
            isCurrent = outcome == .ended(.live) && deployment.target == "production"
            failure = self.failure(deployment, outcome)
        } catch {
            // It was made, whatever became of asking about it.
            var lost = CommandError(mapping: error)
            lost.message =
                "\(made.id) was made, and was \(last.state.rawValue) when last seen. \(lost.message)"
            failure = lost
            isAway = (error as? VercelAPIError)?.isPassing ?? false
        }
        // Whoever did not answer for so long is not waited for once more.
        if !isAway { keepLive(made.id) }
        return result(last, current: isCurrent, previous: previous, failure: failure)
    }

    private func showLog(of made: Deployment) throws -> Deployment {
        let context = workspace.context
        let style = Style(
            usesColor: TerminalDevice.isTerminal(context.messages.descriptor)
                && context.variable("NO_COLOR") == nil)
        let log = LogFollowing(
            client: client, output: LogText(context.messages, style), workspace: workspace,
            limit: following.limit)
        do {
            return try log.show(made, follows: true)
        } catch is OutputError {
            // A log that nobody reads is no reason to give up on the deployment.
            return made
        } catch let error as VercelAPIError where error.code != .cancelled {
            workspace.note(
                "The log cannot be shown. \(CommandError(mapping: error).message) Waiting goes on.")
            return made
        }
    }

    /// Makes the deployment. Where nobody knows whether it was made it is not made once more: a second one
    /// would only build the same again.
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
                "The platform did not answer: whether it made a new deployment of \(project.name) cannot be seen.",
                hint: "Look first: zg-env deployment list -p \(word: project.name)")
        case .notShown:
            throw CommandError(
                .unavailable,
                "The platform did not answer, and shows no new deployment of \(project.name).",
                hint: "Run it again; look at the platform first if a build costs much.")
        }
    }

    /// The platform's refusal with what to do about it.
    private static func refusal(
        _ error: VercelAPIError, _ new: NewDeployment, _ project: String
    ) -> CommandError {
        var refusal = CommandError(mapping: error)
        switch error.code {
        case .conflict:
            refusal.hint =
                "Nothing was built. The project is busy or being moved: try again in a minute."
        case .notPossible, .badRequest, .gone:
            // What it is stands in the way, as with a promotion; the call itself may be retired too.
            if error.code != .gone { refusal.code = .conflict }
            refusal.hint =
                "Nothing was built. \(new.sourceId) may be too old to be built again: deploy the commit anew, or name a newer deployment."
        case .notFound:
            refusal.hint =
                "Nothing was built. The deployment or its project is gone: zg-env deployment list -p \(word: project)"
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

    private func failure(
        _ deployment: Deployment, _ end: Waiting<PlatformWait.DeploymentEnd>
    ) -> CommandError? {
        switch end {
        case .ended(.live): return nil
        case .ended(.failed(let reason)):
            return DeploymentEnding.failure(deployment, client, logIsShown: following.showsLog)
                ?? CommandError(
                    .deploymentFailed,
                    "\(deployment.id) ended in \(deployment.state.rawValue): \(CommandError.ending(reason))"
                )
        case .ended(.builtNotLive(let reason)):
            return CommandError(
                .deploymentFailed,
                "\(deployment.id) is built, not live: \(CommandError.ending(reason))",
                hint: "Make it live with: zg-env deployment promote \(word: deployment.id)")
        case .timedOut:
            return CommandError(
                .unavailable,
                "\(deployment.id) was still \(deployment.state.rawValue) after \(DurationText.text(following.limit)).",
                hint:
                    "It was left alone. Go on with: zg-env deployment logs \(word: deployment.id) --follow, or wait longer with --timeout."
            )
        case .interrupted:
            return CommandError(
                .failed, "Stopped waiting for \(deployment.id), which was left alone.")
        }
    }
}
