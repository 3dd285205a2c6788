internal import CommandLineKit
internal import EnvOperations
internal import Vault

/// `push`: sends changes from the vault to Vercel, and reads them back.
struct Push: Command {
    static let spec = CommandSpec(
        ["push"], "Send changes to Vercel and read them back",
        discussion: """
            Sends only what changed. If a variable has changed on Vercel since the last sync, nothing \
            is sent. Values that Vercel does not show are sent but cannot be read back; the report \
            says so. After an interruption, run the command again to finish.
            """,
        arguments: [RecordChoice.argument(to: "push")],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "prune", "Delete variables that exist only on Vercel"),
            OptionSpec(
                flag: "force", "Overwrite conflicting changes and overlapping variables on Vercel"),
            OptionSpec(
                flag: "check",
                "Send nothing if a variable that the schema requires is missing or invalid"
            ),
        ],
        examples: [
            .init("zg-env push -p web", "show the plan, confirm, and send"),
            .init("zg-env push -p web --yes --json", "send from a script, without confirmation"),
        ],
        exitCodes: ExitCode.ofVercel)

    private var rules = PushPlan.Rules()
    private let checks: Bool

    /// Pushes everything.
    init() { checks = false }

    init(_ command: ParsedCommand) throws {
        rules.force = command.has("force")
        rules.prune = command.has("prune")
        checks = command.has("check")
        let choice = try RecordChoice(command)
        (rules.keys, rules.places) = (choice.keys, choice.places)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if let keys = rules.keys {
            let index = try workspace.session.index(.listing)
            let project = try ProjectResolver(workspace).existing(in: index)
            let known = Set(index.variables.filter { $0.project == project.id }.map(\.name))
            if let missing = keys.sorted().first(where: { !known.contains($0) }) {
                throw RecordSelection.notFound(missing, project, index)
            }
        }
        let report = try PushWork(workspace, rules: rules, checksSchema: checks).run()
        var result = report.result()
        try report.noteNextStep(workspace, after: &result)
        return result
    }
}
