internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `push`: sends changes from the vault to Vercel, and reads them back.
struct Push: Command {
    static let spec = CommandSpec(
        ["push"], "Send changes to Vercel and read them back",
        discussion: """
            Sends only what changed. If a variable has changed on Vercel since the last sync, nothing \
            is sent. With -t, a variable for several targets is pushed for all of them. Values that \
            Vercel does not show are sent but cannot be read back; the report says so. --force keeps a \
            stricter type that Vercel has. Asks before a value becomes readable on Vercel, even with \
            --yes; --allow-weaker skips the question. Leaves out variables that Vercel would reject; \
            if there are any, exits with 1. After an interruption, run the command again to finish.
            """,
        arguments: [RecordChoice.argument(to: "push")],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "prune", "Delete variables that exist only on Vercel"),
            OptionSpec(
                flag: "force", "Overwrite conflicting changes and overlapping variables on Vercel"),
            PushOption.allowWeaker,
            OptionSpec(
                flag: "check",
                "Send nothing if a variable that the schema requires is missing or invalid"
            ),
            OptionSpec(flag: "redeploy", "Redeploy production and wait until it is live"),
        ],
        examples: [
            .init("zg-env push -p web", "show the plan, confirm, and send"),
            .init("zg-env push -p web --yes --json", "send from a script, without confirmation"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofVercel)
    static let fields =
        "\(PushReport.fields); deployment?: null | {zg-env redeploy} (with --redeploy)"

    private var rules = PushPlan.Rules()
    private let checks: Bool
    private let redeploys: Bool

    /// Pushes everything.
    init() { (checks, redeploys) = (false, false) }

    init(_ command: ParsedCommand) throws {
        rules.force = command.has("force")
        rules.prune = command.has("prune")
        rules.allowsWeaker = command.has(PushOption.allowWeaker.name)
        checks = command.has("check")
        redeploys = command.has("redeploy")
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
        try workspace.session.keysForWriting()
        let work = try PushWork(workspace, rules: rules, checksSchema: checks)
        let source = redeploys ? try RedeploySource(productionOf: workspace) : nil
        let plan = try source?.plan(workspace)
        let report = try work.run(
            followUp: plan.map { .init(plan: $0, words: "redeploy production") })
        report.warnBeyondTargets(of: rules, workspace.context)
        var result = report.result().folded(workspace)
        guard let source, report.failure == nil else {
            try report.noteNextStep(workspace, after: &result)
            return result
        }
        if report.isDryRun {
            let text = DeploymentListing.would(plan ?? [])
            return result.joined(with: "deployment", CommandResult(json: .null, text: text))
        }
        if !workspace.options.yes { try result.showText(workspace) }
        do {
            return result.joined(
                with: "deployment", try Redeploy.afterPush(workspace, confirmed: source))
        } catch {
            result.failure = CommandError(mapping: error).adding("The push itself has succeeded.")
            return result
        }
    }
}
