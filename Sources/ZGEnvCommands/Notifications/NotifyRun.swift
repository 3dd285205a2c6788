internal import CommandLineKit
internal import EnvOperations
internal import JSON

/// `notify run`: watches deployments and tells what is chosen, until it is ended.
struct NotifyRun: Command {
    static let spec = CommandSpec(
        ["notify", "run"], "Watch deployments, and tell what is chosen", section: "Platform",
        discussion: """
            Runs until it is ended. Tells what zg-env notify set has chosen, as notifications of the \
            desktop and as lines on stdout; with --json each line is an object. One request to the \
            platform serves all projects of an account or team. What happened while it was not running \
            is told once, in few words. One runs at a time for each vault.
            """,
        options: RefreshIntervals.options + [
            OptionSpec(flag: "no-desktop", "Print lines alone, and use no notifications")
        ],
        examples: [
            .init("zg-env notify run", "in a desktop session"),
            .init("zg-env notify run --no-desktop --json", "events for another program"),
        ],
        exitCodes: [ExitCode.conflict.rawValue, ExitCode.unavailable.rawValue] + ExitCode.ofOpening)

    private let intervals: RefreshIntervals
    private let usesDesktop: Bool

    init(_ command: ParsedCommand) throws {
        intervals = try RefreshIntervals(command)
        usesDesktop = !command.has("no-desktop")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let work = try NotifyWork(workspace, intervals: intervals, usesDesktop: usesDesktop)
        // Signals are noted, so that what was told is kept before it ends.
        try Interrupts.deferred { try work.run { Interrupts.pending == nil } }
        Interrupts.endIfPending()
        return CommandResult(json: .null)
    }
}
