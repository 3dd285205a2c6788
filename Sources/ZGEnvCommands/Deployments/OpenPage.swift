internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// `open`: opens a deployment in the browser.
struct OpenPage: Command {
    static let vaultUse = VaultUse(need: .withoutToken, picksProject: true)
    static let spec = CommandSpec(
        ["open"], "Open a deployment in the browser",
        discussion: """
            Without an argument, opens the live deployment. --dashboard opens its page on Vercel \
            instead. Without a desktop, prints the URL.
            """,
        arguments: [NamedDeployment.optionalArgument],
        options: [OptionSpec(flag: "dashboard", "Open the deployment's page on Vercel")],
        examples: [.init("zg-env open latest --dashboard", "open the page of the newest build")],
        exitCodes: ExitCode.ofVercel)
    static let fields = "id, url: string"

    private let deployment: String
    private let isDashboard: Bool

    init(_ command: ParsedCommand) {
        deployment = command.argument("DEPLOYMENT") ?? "live"
        isDashboard = command.has("dashboard")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let named = try NamedDeployment(deployment, workspace)
        let found = isDashboard ? named.deployment.inspectorURL : named.deployment.url
        guard let address = Browser.address(found) else {
            throw CommandError(
                .failed, "Vercel reports no usable URL for \(named.deployment.id).",
                hint: isDashboard ? "Leave out --dashboard." : nil)
        }
        let context = workspace.context
        let opens = context.hasDisplay && !workspace.options.dryRun && !workspace.options.json
        if opens { try Browser(context).open(address) }
        return CommandResult(
            json: ["id": .string(named.deployment.id), "url": .string(address)],
            text: opens ? "" : address + "\n")
    }
}
