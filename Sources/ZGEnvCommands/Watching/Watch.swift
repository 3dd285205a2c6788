internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import Vault

/// `watch`: a live view of projects and their newest deployments.
struct Watch: Command {
    static let spec = CommandSpec(
        ["watch"], "Show a live view of projects and deployments",
        discussion: """
            Shows the last known state immediately, with its age, and keeps refreshing it from \
            Vercel. Use the keyboard to select a project, show and change its variables, follow build \
            logs, redeploy, promote and roll back; press ? for help. Before any change, watch shows a plan and \
            asks for confirmation. Showing a value requires the passphrase; the value is hidden \
            after 30 seconds or when you press a key. Without -p, shows all projects of the \
            account. With --json, prints one JSON object per change, each on its own line.
            """,
        options: [
            OptionSpec(
                "project", short: "p", value: "NAME", "Show this project",
                repeatable: true, environment: "ZG_ENV_PROJECT", completion: .dynamic(.project))
        ] + RefreshIntervals.options,
        examples: [
            .init("zg-env watch", "show all projects of the account"),
            .init("zg-env watch -p web -p api", "show two projects"),
            .init("zg-env watch --json | jq -r .event", "print events for another program"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        The first line:
        event: "snapshot"; kept: boolean (whether it comes from the cache); asOf: time | null
        projects: [{
            project, projectId: string; notLiveYet: [string]
            deployments: [{ \(DeploymentListing.fields) }]
        }]
        A line for each event:
        \(WatchRow.eventFields)
        A line when Vercel cannot be reached, or can be reached again:
        event: "unavailable" | "available"; message?: string
        """

    private let intervals: RefreshIntervals
    private let projects: [String]

    init(_ command: ParsedCommand) throws {
        intervals = try RefreshIntervals(command)
        projects = command.values("project")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let given = projects.isEmpty ? [workspace.options.project].compactMap { $0 } : projects
        let names = given.unique(by: \.self)
        for name in names { try ProjectResolver.check(name) }
        if workspace.options.json {
            let events = try WatchEvents(workspace, names: names, intervals: intervals)
            try Interrupts.deferred { try events.run { Interrupts.pending == nil } }
        } else {
            try Self.checkTerminal(workspace.context)
            let work = try WatchLoop(
                workspace, names: names,
                opened: names.isEmpty ? try linkedProject(workspace) : nil, intervals: intervals)
            try Interrupts.deferred { try work.run() }
        }
        Interrupts.endIfPending()
        return CommandResult.shown()
    }

    /// The project of the directory; nil without a link that this vault trusts.
    private func linkedProject(_ workspace: Workspace) throws -> String? {
        guard case .link? = try? ProjectResolver(workspace).reference() else { return nil }
        do {
            return try ProjectResolver(workspace).existing(in: workspace.session.index(.listing))
                .name
        } catch let error as CommandError {
            workspace.note(error.message)
            return nil
        }
    }

    /// Whether the program without arguments shows the screen: on a terminal, in a directory with
    /// a link.
    static func isDefault(_ context: Context) -> Bool {
        guard (try? checkTerminal(context)) != nil else { return false }
        let link = try? LinkFile.nearest(to: context.workingDirectory, user: geteuid()) { _ in }
        return link != nil
    }

    /// - Throws: ``ExitCode/usage`` without a suitable terminal.
    private static func checkTerminal(_ context: Context) throws {
        let why: String
        if !TerminalDevice.isTerminal(context.output.descriptor) || !TerminalDevice.isTerminal(0) {
            why = "watch needs a terminal for its input and output."
        } else if ["dumb", "unknown", nil].contains(context.variable("TERM")) {
            why =
                "watch needs a terminal that supports cursor movement; the type set in TERM does not."
        } else {
            return
        }
        throw CommandError(
            .usage, why,
            hint:
                "Print changes with: zg-env watch --json, or list deployments with: zg-env deployment list -p NAME"
        )
    }
}
