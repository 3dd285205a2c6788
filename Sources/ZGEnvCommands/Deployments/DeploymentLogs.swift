internal import CommandLineKit
internal import VercelAPI

/// `deployment logs`: shows the build log of a deployment.
struct DeploymentLogs: Command {
    static let vaultUse = VaultUse(need: .withoutToken, picksProject: true)
    static let spec = CommandSpec(
        ["deployment", "logs"], "Show the build log of a deployment",
        discussion: """
            With --follow, the command follows the build to the end, reconnects if needed, and \
            exits with 9 if the build failed. Without --follow, it shows the log so far and exits \
            with 0. On a terminal, each successful step is collapsed to one line. Elsewhere, and \
            with --unfold, each line starts with a timestamp and a symbol: ! for errors, ~ for \
            warnings, $ for commands, # for steps, = for Vercel's messages. With --json, each line \
            is a JSON object.
            """,
        arguments: [NamedDeployment.optionalArgument],
        options: [
            OptionSpec(flag: "follow", short: "f", "Follow the log until the deployment finishes"),
            OptionSpec(flag: "unfold", "Show every line, even on a terminal"),
        ],
        exclusive: [["unfold", "json"]],
        examples: [
            .init("zg-env deployment logs dpl_1 --follow", "follow a build until it ends"),
            .init(
                "zg-env deployment logs dpl_1 --json | jq -r 'select(.stream==\"stderr\").text'",
                "show only error output"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofVercel,
        aliases: [["logs"]])
    static let fields = """
        One object for each entry:
        type: string; id: string | null; at: time | null; stream: "stdout" | "stderr" | null
        level, step, text, state: string | null; statusCode: number | null
        aliasError: string | null
        One object for entries that could not be read:
        type: "lost"; count: number
        One object for each warning:
        type: "warning"; code, message: string
        """

    private let deployment: String
    private let follows: Bool
    private let unfolds: Bool

    init(_ command: ParsedCommand) {
        deployment = command.argument("DEPLOYMENT") ?? "latest"
        follows = command.has("follow")
        unfolds = command.has("unfold")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let named = try NamedDeployment(deployment, workspace)
        let output = output(workspace)
        let following = LogFollower(
            client: named.client, output: output, workspace: workspace)
        let last = try following.show(named.deployment, follows: follows)
        try (output as? JSONLogOutput)?.warn(workspace.context.warnings)
        if !follows, !last.state.isFinal {
            workspace.note(
                "\(last.id) is \(last.state.rawValue). See the rest with --follow.")
        }
        return .shown(
            failure: follows
                ? DeploymentFailure.failure(last, named.client, logIsShown: true) : nil)
    }

    private func output(_ workspace: Workspace) -> any LogOutput {
        let context = workspace.context
        if workspace.options.json { return JSONLogOutput(context.output) }
        let style = TerminalStyle(context).style
        let isTerminal = TerminalDevice.isTerminal(context.output.descriptor)
        guard isTerminal, !unfolds else {
            return TextLogOutput(context.output, style)
        }
        let hasProgress =
            !workspace.options.quiet && TerminalDevice.isTerminal(context.messages.descriptor)
        return FoldedLogOutput(
            context.output, style,
            progress: hasProgress ? ProgressLine(descriptor: context.messages.descriptor) : nil)
    }
}
