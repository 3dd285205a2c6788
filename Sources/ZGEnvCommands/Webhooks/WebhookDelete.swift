internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// `webhook delete`: deletes a webhook at Vercel.
struct WebhookDelete: Command {
    static let spec = CommandSpec(
        ["webhook", "delete"], "Delete a webhook",
        discussion: """
            Also removes the webhook's secret from the vault if the values are unlocked; the history \
            keeps it.
            """,
        arguments: [ArgumentSpec("WEBHOOK", .one, "The webhook's ID, as shown by webhook list")],
        exitCodes: ExitCode.ofOpening(and: .conflict, .unauthorized, .unavailable),
        aliases: [["webhook", "rm"]])
    static let fields = "\(WebhookListing.fields); dryRun?: true"

    private let id: String

    init(_ command: ParsedCommand) { id = command.required("WEBHOOK") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let client = try VercelSession(workspace).access().client
        let webhook: Webhook
        do throws(VercelAPIError) {
            webhook = try client.webhook(id)
        } catch {
            guard error.code == .notFound else { throw error }
            throw CommandError(
                .notFound, "No such webhook, or this account has no access to it.",
                hint: "List webhooks with: zg-env webhook list (--team SLUG for a team's)")
        }
        if workspace.options.namesProject {
            let project = try LinkedProject.anywhere(workspace).platform
            guard webhook.projectIds.isEmpty || webhook.projectIds.contains(project.id) else {
                throw CommandError(
                    .conflict, "\(webhook.id) is not a webhook of \(project.name).",
                    hint: "Leave out -p, or list webhooks with: zg-env webhook list")
            }
        }
        let kept = try WebhookSecrets.known(workspace).contains(
            WebhookSecrets.key(of: webhook.id))
        let plan = [
            "delete the webhook \(webhook.id): \(webhook.url) stops receiving events"
        ]
        let members = WebhookListing.members(webhook, secretIsKept: kept)
        if try !workspace.confirm(plan, "Delete it?") {
            return CommandResult(
                json: .object(members + [.init("dryRun", true)]),
                text: DisplayText.lines(plan, after: "Would "))
        }
        do throws(VercelAPIError) {
            _ = try client.deleteWebhook(webhook.id)
        } catch {
            // Gone since it was read; checked below.
            guard error.code == .notFound else { throw error }
        }
        do throws(VercelAPIError) {
            _ = try client.webhook(webhook.id)
        } catch {
            guard [.notFound, .gone].contains(error.code) else {
                throw CommandError(
                    .unavailable, "Vercel accepted the deletion, but it could not be verified.",
                    hint: "Check with: zg-env webhook list")
            }
            do {
                try WebhookSecrets.remove(of: webhook.id, workspace)
            } catch {
                workspace.context.warn(
                    "not-removed",
                    "The webhook's secret is still in the vault. \(CommandError(mapping: error).message)"
                )
            }
            workspace.note("Deleted \(webhook.id).")
            return CommandResult(json: .object(members), text: "")
        }
        throw CommandError(
            .failed, "Vercel reported the webhook as deleted, but still shows it.",
            hint: "Check again in a minute: zg-env webhook list")
    }
}
