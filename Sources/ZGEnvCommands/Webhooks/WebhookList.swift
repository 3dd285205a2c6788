internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// `webhook list`: where the platform sends its events.
struct WebhookList: Command {
    static let spec = CommandSpec(
        ["webhook", "list"], "List the places that the platform tells of events",
        section: "Platform",
        discussion: """
            Those of the account or team, or with -p those that hear of one project. The last column \
            says whether the vault has the secret that messages are signed with: the platform shows it \
            once, when a webhook is made.
            """,
        options: [],
        exitCodes: ExitCode.ofOpening(and: .unauthorized, .unavailable),
        aliases: [["webhook", "ls"]])

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let scope = try WebhookScope(all: false, needsChoice: false, workspace)
        let webhooks = try scope.client.webhooks(ofProject: scope.project?.id)
        let kept = try WebhookSecrets.known(workspace)
        func isKept(_ webhook: Webhook) -> Bool {
            kept.contains(WebhookSecrets.key(of: webhook.id))
        }
        if webhooks.isEmpty { workspace.note("There is no webhook.") }
        var table = Table([
            .init("WEBHOOK"), .init("URL", canShrink: true), .init("EVENTS", canShrink: true),
            .init("PROJECTS", trailing: true), .init("SECRET"),
        ])
        for webhook in webhooks {
            table.append([
                .init(webhook.id), .init(webhook.url),
                .init(webhook.events.joined(separator: ",")),
                .init(webhook.projectIds.isEmpty ? "all" : "\(webhook.projectIds.count)"),
                .init(
                    isKept(webhook) ? "in the vault" : "not here",
                    as: isKept(webhook) ? .plain : .dim),
            ])
        }
        let look = OutputLook(workspace.context)
        return CommandResult(
            json: [
                "webhooks": .array(
                    webhooks.map {
                        .object(WebhookListing.members($0, secretIsKept: isKept($0)))
                    })
            ], text: webhooks.isEmpty ? "" : table.text(width: look.width, style: look.style))
    }
}
