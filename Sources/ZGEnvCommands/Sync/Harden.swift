internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `harden`: makes readable variables sensitive after verifying that the vault has their values.
struct Harden: Command {
    static let spec = CommandSpec(
        ["harden"], "Make variables sensitive (Vercel's Secret, write-only)",
        discussion: """
            Once a variable is sensitive, Vercel no longer shows its value, so values that the \
            vault does not have are pulled first. Each value in the vault is then compared with \
            Vercel's; a variable whose values differ is left as is. Vercel does not support \
            sensitive variables for development, so a variable's development value is split off \
            and stays readable. Variables that a team policy made sensitive become sensitive in \
            the vault too. A readable variable that the policy no longer allows is included only if you specify it as \
            KEY. After an interruption, run the command again to finish.
            """,
        arguments: [RecordChoice.argument(to: "harden")],
        options: [
            ScopeOptions.target,
            OptionSpec(
                flag: "redeploy", "Redeploy production afterwards and wait until it is live"),
        ],
        examples: [
            .init("zg-env harden -p web --dry-run", "show what would become sensitive"),
            .init(
                "zg-env harden STRIPE_KEY -p web -t production",
                "harden one variable for production"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofVercel)
    static let fields =
        "\(HardenReport.fields); deployment?: null | {zg-env redeploy} (with --redeploy)"

    private var rules = HardeningPlan.Rules()
    private let redeploys: Bool

    init(_ command: ParsedCommand) throws {
        let choice = try RecordChoice(command)
        (rules.keys, rules.places) = (choice.keys, choice.places)
        guard rules.places?.targets.contains(.development) != true else {
            throw CommandError(
                .usage, "Vercel does not support sensitive variables for development.",
                hint: "Use -t with production, preview or a custom environment.")
        }
        for key in (rules.keys ?? []).sorted() { try SensitiveScope.check(publicName: key) }
        redeploys = command.has("redeploy")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let work = try HardenWork(workspace, rules: rules)
        let source = redeploys ? try RedeploySource(productionOf: workspace) : nil
        let following = try source?.plan(workspace) ?? []
        let report = try work.run(following: following)
        var result = report.result()
        guard report.isDone || redeploys, result.failure == nil else { return result }
        if report.isDryRun {
            return result.joined(
                with: "deployment",
                CommandResult(json: .null, text: DeploymentListing.would(following)))
        }
        if try wantsRedeploy(report, &result, workspace) {
            do {
                result = result.joined(
                    with: "deployment", try Redeploy.afterPush(workspace, confirmed: source))
            } catch {
                result.failure = CommandError(mapping: error).adding(
                    report.isDone
                        ? "The variables are sensitive; production was not redeployed."
                        : "Production was not redeployed.")
            }
        }
        return result
    }

    /// Returns whether to redeploy, by the option or by asking on a terminal.
    private func wantsRedeploy(
        _ report: HardenReport, _ result: inout CommandResult, _ workspace: Workspace
    ) throws -> Bool {
        if redeploys { return true }
        guard report.isLive, !workspace.options.json else { return false }
        workspace.note(
            "Existing deployments keep the values they were built with. Redeploy with: "
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
