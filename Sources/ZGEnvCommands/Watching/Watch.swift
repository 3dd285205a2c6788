internal import CommandLineKit
internal import EnvOperations

/// `watch`: a live view of projects and their newest deployments.
struct Watch: Command {
    static let spec = CommandSpec(
        ["watch"], "Show projects and their deployments as they change", section: "Platform",
        discussion: """
            Takes the whole terminal and gives it back. What was seen last is there at once, with its \
            age, and the platform is asked behind it. Keys move, open a project with its variables, \
            follow a build log, redeploy, promote and roll back; ? names them all. Whatever changes \
            something shows its plan and asks first. A value is shown only after the passphrase, and \
            hidden again by any key or after 30 seconds. Without -p all projects of the account are \
            shown. With --json every change is one object on a line.
            """,
        options: [
            OptionSpec(
                "project", short: "p", value: "NAME", "Show this project",
                repeatable: true, environment: "ZG_ENV_PROJECT", completion: .dynamic(.project))
        ] + RefreshIntervals.options,
        examples: [
            .init("zg-env watch", "all projects of the account"),
            .init("zg-env watch -p web -p api", "two of them"),
            .init("zg-env watch --json | jq -r .event", "changes for another program"),
        ],
        exitCodes: ExitCode.ofPlatform)

    private let intervals: RefreshIntervals
    private let projects: [String]

    init(_ command: ParsedCommand) throws {
        intervals = try RefreshIntervals(command)
        projects = command.values("project")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        var names: [String] = []
        for name in projects.isEmpty ? [workspace.options.project].compactMap({ $0 }) : projects
        where !names.contains(name) {
            try ProjectResolver.check(name)
            names.append(name)
        }
        if workspace.options.json {
            let events = try WatchEvents(workspace, names: names, intervals: intervals)
            try Interrupts.deferred { try events.run { Interrupts.pending == nil } }
        } else {
            try checkTerminal(workspace.context)
            let work = try WatchWork(workspace, names: names, intervals: intervals)
            try Interrupts.deferred { try work.run() }
        }
        Interrupts.endIfPending()
        return CommandResult.shown()
    }

    /// - Throws: ``ExitCode/usage`` where there is no screen to show it on.
    private func checkTerminal(_ context: Context) throws {
        let why: String
        if !TerminalDevice.isTerminal(context.output.descriptor) || !TerminalDevice.isTerminal(0) {
            why = "watch needs a terminal, and its input or output is none."
        } else if ["dumb", "unknown", nil].contains(context.variable("TERM")) {
            why =
                "watch needs a terminal that moves its cursor, and TERM says that this one does not."
        } else {
            return
        }
        throw CommandError(
            .usage, why,
            hint:
                "Have changes as lines with: zg-env watch --json, or see what is there: zg-env deployment list -p NAME"
        )
    }
}
