internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// `webhook list`: lists the webhooks at Vercel.
struct WebhookList: Command {
    static let spec = CommandSpec(
        ["webhook", "list"], "List webhooks",
        discussion: """
            Lists the webhooks of the account or team, or with -p those of one project. SECRET says \
            whether the vault has the signing secret, which Vercel shows only once, when a webhook is \
            created.
            """,
        options: [],
        exitCodes: ExitCode.ofOpening(and: .unauthorized, .unavailable),
        aliases: [["webhook", "ls"]])
    static let fields = "webhooks: [{ \(WebhookListing.fields) }]"

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let scope = try WebhookScope(all: false, needsChoice: false, workspace)
        let webhooks = try scope.client.webhooks(ofProject: scope.project?.id)
        let kept = try WebhookSecrets.known(workspace)
        func isKept(_ webhook: Webhook) -> Bool {
            kept.contains(WebhookSecrets.key(of: webhook.id))
        }
        if webhooks.isEmpty { workspace.note("No webhooks.") }
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
                    isKept(webhook) ? "in the vault" : "unknown",
                    as: isKept(webhook) ? .plain : .dim),
            ])
        }
        let look = TerminalStyle(workspace.context)
        return CommandResult(
            json: [
                "webhooks": .array(
                    webhooks.map {
                        .object(WebhookListing.members($0, secretIsKept: isKept($0)))
                    })
            ], text: webhooks.isEmpty ? "" : table.text(width: look.width, style: look.style))
    }
}
