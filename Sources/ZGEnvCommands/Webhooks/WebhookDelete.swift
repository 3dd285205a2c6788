internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// `webhook delete`: ends what the platform tells a server.
struct WebhookDelete: Command {
    static let spec = CommandSpec(
        ["webhook", "delete"], "End what the platform tells a server", section: "Platform",
        discussion: """
            Its secret goes out of use in the vault too; the history keeps it.
            """,
        arguments: [ArgumentSpec("WEBHOOK", .one, "The id, as webhook list shows it")],
        exitCodes: ExitCode.ofOpening(and: .unauthorized, .unavailable),
        aliases: [["webhook", "rm"]])

    private let id: String

    init(_ command: ParsedCommand) { id = command.required("WEBHOOK") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let client = try PlatformSession(workspace).access().client
        let webhook: Webhook
        do throws(VercelAPIError) {
            webhook = try client.webhook(id)
        } catch {
            guard error.code == .notFound else { throw error }
            throw CommandError(
                .notFound, "This account sees no webhook of that id.",
                hint: "See what is there with: zg-env webhook list (--team SLUG for a team's)")
        }
        let kept = try WebhookSecrets.known(workspace).contains(
            WebhookSecrets.key(of: webhook.id))
        let plan = [
            "delete the webhook \(webhook.id): \(webhook.url) is told nothing any more"
        ]
        let members = WebhookListing.members(webhook, secretIsKept: kept)
        if try !workspace.confirm(plan, "Delete it?") {
            return CommandResult(
                json: .object(members + [.init("dryRun", true)]),
                text: plan.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
        }
        do throws(VercelAPIError) {
            _ = try client.deleteWebhook(webhook.id)
        } catch {
            // It was there a moment ago; whether it is gone is looked up below.
            guard error.code == .notFound else { throw error }
        }
        do throws(VercelAPIError) {
            _ = try client.webhook(webhook.id)
        } catch {
            guard [.notFound, .gone].contains(error.code) else {
                throw CommandError(
                    .unavailable, "It was deleted, which could not be looked up afterwards.",
                    hint: "See whether it is gone: zg-env webhook list")
            }
            do {
                try WebhookSecrets.remove(of: webhook.id, workspace)
            } catch {
                workspace.context.warn(
                    "not-removed",
                    "Its secret is still in use in the vault. \(CommandError(mapping: error).message)"
                )
            }
            workspace.note("\(webhook.id) is deleted.")
            return CommandResult(json: .object(members), text: "")
        }
        throw CommandError(
            .failed, "The platform answered that it is deleted, and still shows it.",
            hint: "Look again in a minute: zg-env webhook list")
    }
}
