internal import CommandLineKit
internal import VercelAPI

/// `deployment logs`: the log of a deployment's build.
struct DeploymentLogs: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["deployment", "logs"], "Show the build log of a deployment", section: "Platform",
        discussion: """
            With --follow it goes on as the build does, over broken connections too, and ends with the \
            deployment: with code 9 if that was not built. Without it the log is shown as far as it is, \
            and the code is 0 whatever became of the build. On a terminal each step that went well is \
            one line; elsewhere, and with --unfold, a line has its time and a mark: ! for what was \
            printed as an error, ~ for warnings, $ for commands, # for steps, = for the platform's own \
            words. With --json each event is one object on a line.
            """,
        arguments: [NamedDeployment.argument],
        options: [
            OptionSpec(flag: "follow", short: "f", "Go on until the deployment has ended"),
            OptionSpec(flag: "unfold", "Show every line on a terminal too"),
        ],
        exclusive: [["unfold", "json"]],
        examples: [
            .init("zg-env deployment logs dpl_1 --follow", "watch a build to its end"),
            .init(
                "zg-env deployment logs dpl_1 --json | jq -r 'select(.stream==\"stderr\").text'",
                "what was printed as errors"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofPlatform)

    private let deployment: String
    private let follows: Bool
    private let unfolds: Bool

    init(_ command: ParsedCommand) {
        deployment = command.required("DEPLOYMENT")
        follows = command.has("follow")
        unfolds = command.has("unfold")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let named = try NamedDeployment(deployment, workspace)
        let output = output(workspace)
        let following = LogFollowing(
            client: named.client, output: output, workspace: workspace)
        let last = try following.show(named.deployment, follows: follows)
        try (output as? LogJSON)?.warn(workspace.context.warnings)
        if !follows, !last.state.isFinal {
            workspace.note(
                "\(last.id) is \(last.state.rawValue): see the rest with --follow.")
        }
        return .shown(
            failure: follows
                ? DeploymentEnding.failure(last, named.client, logIsShown: true) : nil)
    }

    private func output(_ workspace: Workspace) -> any LogOutput {
        let context = workspace.context
        if workspace.options.json { return LogJSON(context.output) }
        let style = OutputLook(context).style
        let isTerminal = TerminalDevice.isTerminal(context.output.descriptor)
        guard isTerminal, !unfolds else {
            return LogText(context.output, style)
        }
        let hasProgress =
            !workspace.options.quiet && TerminalDevice.isTerminal(context.messages.descriptor)
        return LogFolding(
            context.output, style,
            progress: hasProgress ? ProgressLine(descriptor: context.messages.descriptor) : nil)
    }
}
