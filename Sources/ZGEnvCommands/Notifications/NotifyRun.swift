internal import CommandLineKit
internal import EnvOperations
internal import JSON

/// `notify run`: watches deployments and reports the chosen events until it is stopped.
struct NotifyRun: Command {
    static let spec = CommandSpec(
        ["notify", "run"], "Watch deployments and show notifications",
        discussion: """
            Runs until it is stopped. Shows desktop notifications for the events that you \
            chose with zg-env notify set, and prints the events to stdout (with --json, one object per line). One \
            request to Vercel covers all projects of an account or team. Events from before the \
            command started are summarized once. Only one notify run per vault can run at a time.
            """,
        options: RefreshIntervals.options + [
            OptionSpec(flag: "no-desktop", "Print events without showing desktop notifications")
        ],
        examples: [
            .init("zg-env notify run", "watch, and show desktop notifications"),
            .init("zg-env notify run --no-desktop --json", "print events for another program"),
        ],
        exitCodes: [ExitCode.conflict.rawValue, ExitCode.unavailable.rawValue] + ExitCode.ofOpening)
    static let fields = """
        One object for each event:
        \(WatchRow.eventFields)
        One object for events that were lost:
        event: "lost"; untold: number (notifications); cutLists: number
        """

    private let intervals: RefreshIntervals
    private let usesDesktop: Bool

    init(_ command: ParsedCommand) throws {
        intervals = try RefreshIntervals(command)
        usesDesktop = !command.has("no-desktop")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let work = try NotifyLoop(workspace, intervals: intervals, usesDesktop: usesDesktop)
        // Signals are deferred, so that progress is saved before the process ends.
        try Interrupts.deferred { try work.run { Interrupts.pending == nil } }
        Interrupts.endIfPending()
        return CommandResult(json: .null)
    }
}
