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

        static let options = [
            OptionSpec(flag: "wait", "Wait until it is live"),
            OptionSpec(flag: "logs", "Wait, and show the build log on stderr meanwhile"),
            OptionSpec(
                "timeout", value: "TIME", "Longest time to wait: 15m by default", form: .duration),
        ]

        /// What the options ask for.
        ///
        /// - Throws: ``ExitCode/usage`` for a log beside one JSON value.
        init(_ invocation: Invocation) throws {
            let command = invocation.command
            showsLog = command.has("logs")
            waits = showsLog || command.has("wait")
            if let time = command.duration("timeout") { limit = time }
            guard showsLog, invocation.options.json else { return }
            throw CommandError(
                .usage, "--logs and --json do not go together: the result is one JSON value.",
                hint:
                    "Nothing was done. Leave --logs out, and read the log with: zg-env deployment logs ID --follow --json"
            )
        }

        init(waits: Bool) { self.waits = waits }

        /// Refuses a time limit for nothing: whoever gives one expects a result that has been waited for.
        ///
        /// - Throws: ``ExitCode/usage``.
        func checkLimit(_ invocation: Invocation) throws {
            guard !waits, invocation.command.duration("timeout") != nil else { return }
            throw CommandError(
                .usage, "--timeout limits the waiting, and nothing is waited for.",
                hint: "Nothing was done. Say --wait or --logs too, or leave --timeout out.")
        }
    }

    let client: VercelClient
    let projectID: String
    let projectName: String
    let following: Following
    let invocation: Invocation
    /// Keeps in the vault what is live now, after this deployment was made; where that fails it is a warning.
    let keepLive: (String) throws -> Void

    /// Makes the deployment, waits as asked, and says what became of it.
    func make(_ new: NewDeployment) throws -> CommandResult {
        let previous = try client.project(projectID).production?.id
        let made = try create(new)
        invocation.setLastWords(
            "Stopped by a signal. \(made.id) was made, and is left alone.",
            hint: "See what became of it: zg-env deployment show \(word: made.id)")
        guard following.waits else {
            try invocation.note("\(made.id) is \(made.state.rawValue); it is not live yet.")
            return result(made, current: false, previous: previous, failure: nil)
        }
        var last = made
        var isCurrent: Bool?
        var isAway = false
        let failure: CommandError?
        do {
            let start = invocation.context.waitingRoom.elapsed
            if following.showsLog { last = try showLog(of: made) }
            let spent = invocation.context.waitingRoom.elapsed - start
            let limit = max(following.limit - spent, .zero)
            let outage = OutageNotice(invocation)
            let end =
                invocation.context.now() + UInt64(clamping: limit.components.seconds) * 1_000
            let wait = DeploymentWait(
                client: client.unrepeated(within: limit),
                waitingRoom: invocation.context.waitingRoom, limit: limit,
                changed: { deployment in
                    last = deployment
                    // Progress is no result: a stderr that is gone changes nothing.
                    try? invocation.note("\(deployment.id) is \(deployment.state.rawValue).")
                },
                looked: { outage.take($0, until: end) })
            let (deployment, outcome) = try wait.wait(for: last, project: projectID)
            last = deployment
            isCurrent = outcome == .live && deployment.target == "production"
            failure = self.failure(deployment, outcome)
        } catch {
            // It was made, whatever became of asking about it.
            var lost = CommandError(mapping: error)
            lost.message =
                "\(made.id) was made, and was \(last.state.rawValue) when last seen. \(lost.message)"
            failure = lost
            isAway = (error as? VercelAPIError)?.isPassing ?? false
        }
        do {
            // Whoever did not answer for so long is not waited for once more.
            if !isAway { try keepLive(made.id) }
        } catch {
            invocation.context.warn(
                "not-kept",
                "The vault does not know yet what is live now. \(CommandError(mapping: error).message)"
            )
        }
        return result(last, current: isCurrent, previous: previous, failure: failure)
    }

    private func showLog(of made: Deployment) throws -> Deployment {
        let context = invocation.context
        let style = Style(
            usesColor: TerminalDevice.isTerminal(context.messages.descriptor)
                && context.variable("NO_COLOR") == nil)
        let log = LogFollowing(
            client: client, output: LogText(context.messages, style), invocation: invocation,
            limit: following.limit)
        do {
            return try log.show(made, follows: true)
        } catch is OutputError {
            // A log that nobody reads is no reason to give up on the deployment.
            return made
        } catch let error as VercelAPIError where error.code != .cancelled {
            try invocation.note(
                "The log cannot be shown. \(CommandError(mapping: error).message) Waiting goes on.")
            return made
        }
    }

    /// Makes the deployment. Where nobody knows whether it was made it is looked for: a second one
    /// would only build the same again.
    private func create(_ new: NewDeployment) throws -> Deployment {
        var filter = DeploymentFilter()
        filter.projectId = projectID
        filter.limit = 20
        let before = Set(try client.deployments(filter).map(\.id))
        do throws(VercelAPIError) {
            return try client.createDeployment(new)
        } catch {
            guard error.code == .outcomeUnknown else { throw Self.refusal(error, new, projectName) }
            let now: [Deployment]
            do throws(VercelAPIError) {
                now = try client.deployments(filter)
            } catch {
                throw CommandError(
                    .unavailable,
                    "The platform did not answer: whether it made a new deployment of \(DisplayText.safe(projectName)) cannot be seen.",
                    hint: "Look first: zg-env deployment list -p \(word: projectName)")
            }
            let made = now.first {
                !before.contains($0.id) && $0.meta["originalDeploymentId"] == new.sourceId
            }
            if let made { return made }
            throw CommandError(
                .unavailable,
                "The platform did not answer, and shows no new deployment of \(DisplayText.safe(projectName)).",
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
                    + [.init("previous", .string(orNull: previous))]),
            text: DeploymentListing.line(of: deployment),
            failure: failure)
    }

    private func failure(_ deployment: Deployment, _ end: DeploymentWait.End) -> CommandError? {
        switch end {
        case .live: return nil
        case .failed(let reason):
            return DeploymentEnding.failure(deployment, client, logIsShown: following.showsLog)
                ?? CommandError(
                    .deploymentFailed,
                    "\(deployment.id) ended in \(deployment.state.rawValue): "
                        + CommandError.ending(DisplayText.safe(reason)))
        case .builtNotLive(let reason):
            return CommandError(
                .deploymentFailed,
                "\(deployment.id) is built, not live: "
                    + CommandError.ending(DisplayText.safe(reason)),
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
