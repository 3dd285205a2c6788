internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Vault

/// `harden`: makes readable variables sensitive, once the vault has their values for certain.
struct Harden: Command {
    static let spec = CommandSpec(
        ["harden"], "Make readable variables sensitive, with the values safe in the vault",
        section: "Platform",
        discussion: """
            The platform never shows the value of a sensitive variable again. So each value is first \
            taken into the vault where it is not there yet, opened again and held against the \
            platform's; where the two differ the variable is left as it is. The platform takes no \
            sensitive variable for development: that part becomes a record of its own, and stays \
            readable. What a team's policy made sensitive becomes so in the vault too; with KEY also what the \
            policy refuses. When it was interrupted, run it again: it finishes what is left.
            """,
        arguments: [RecordChoice.argument(to: "harden")],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "redeploy", "Redeploy production afterwards, and wait for it"),
        ],
        examples: [
            .init("zg-env harden -p web --dry-run", "show what would become sensitive"),
            .init("zg-env harden STRIPE_KEY -p web -t production", "one variable of production"),
        ],
        exitCodes: ExitCode.ofPlatform)

    private var rules = HardeningPlan.Rules()
    private let redeploys: Bool

    init(_ command: ParsedCommand) throws {
        let choice = try RecordChoice(command)
        (rules.keys, rules.places) = (choice.keys, choice.places)
        guard rules.places?.targets.contains(.development) != true else {
            throw CommandError(
                .usage, "The platform takes no sensitive variable for development.",
                hint: "Nothing was changed. Name production, preview or a custom environment.")
        }
        redeploys = command.has("redeploy")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let report = try HardenWork(workspace, rules: rules).run()
        var result = report.result()
        guard report.isDone, result.failure == nil else { return result }
        if try wantsRedeploy(report, &result, workspace) {
            do {
                result = result.joined(with: "deployment", try Redeploy.afterPush(workspace))
            } catch {
                var failure = CommandError(mapping: error)
                failure.message += " The variables are sensitive; production was not redeployed."
                result.failure = failure
            }
        }
        return result
    }

    /// The option's word, or the user's on a terminal.
    private func wantsRedeploy(
        _ report: HardenReport, _ result: inout CommandResult, _ workspace: Workspace
    ) throws -> Bool {
        if redeploys { return true }
        guard report.isLive, !workspace.options.json else { return false }
        workspace.note(
            "Live deployments keep what they were built with. Build production anew with: "
                + "zg-env redeploy -p \(word: report.project)")
        guard !workspace.options.yes, !workspace.options.quiet else { return false }
        do {
            let terminal = try TerminalDevice()
            try result.showText(workspace)
            return try terminal.confirm("Redeploy production now?")
        } catch TerminalError.noTerminal {
            return false
        }
    }
}
