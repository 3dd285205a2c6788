internal import CommandLineKit
internal import EnvOperations
internal import Vault

/// `push`: brings the platform to what the vault says, and reads it back.
struct Push: Command {
    static let spec = CommandSpec(
        ["push"], "Bring the platform to what the vault says, and read it back",
        section: "Platform",
        discussion: """
            Sends only what changed. A change made on the platform that this vault has not seen stops \
            it before anything is sent. Values that the platform does not show again are reported as \
            sent and not read back. A push that was cut short is finished by running it again.
            """,
        arguments: [RecordChoice.argument(to: "push")],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "prune", "Delete variables that only the platform has"),
            OptionSpec(
                flag: "force", "Overwrite what was changed on the platform, or overlaps with it"),
        ],
        examples: [
            .init("zg-env push -p web", "show the plan, ask, and send it"),
            .init("zg-env push -p web --yes --json", "send it from a script"),
        ],
        exitCodes: ExitCode.ofPlatform)

    private var rules = PushPlan.Rules()

    init(_ command: ParsedCommand) throws {
        rules.force = command.has("force")
        rules.prune = command.has("prune")
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
        let report = try PushWork(workspace, rules: rules).run()
        if let remark = report.remarkOnProduction { workspace.note(remark) }
        return report.result()
    }
}
