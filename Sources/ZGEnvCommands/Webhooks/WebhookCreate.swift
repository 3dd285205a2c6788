internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault
internal import VercelAPI

/// `webhook create`: creates a webhook at Vercel and stores its signing secret.
struct WebhookCreate: Command {
    static let spec = CommandSpec(
        ["webhook", "create"], "Send Vercel events to a server",
        discussion: """
            Vercel shows the webhook's signing secret once. The secret is stored in the vault as a \
            variable of the project \(WebhookSecrets.projectName); pass it to a server with: \
            zg-env run -p \(WebhookSecrets.projectName) -- SERVER. If the secret cannot be stored, \
            the webhook is deleted. With --postal the webhook calls the relay that this vault has \
            joined, and the secret is also written to a credential file for the relay. Vercel sends the \
            events of projects themselves, such as project.env-variable.updated, only with --all-projects.
            """,
        arguments: [
            ArgumentSpec("URL", .optional, "Send events to this URL (not needed with --postal)")
        ],
        options: [
            OptionSpec(
                "event", value: "EVENT",
                "Send only these events, such as deployment.error (default: deployment events)",
                repeatable: true, commaSeparated: true), WebhookScope.allOption,
        ] + RelayedWebhook.options,
        examples: [
            .init(
                "zg-env webhook create https://relay.example/hook -p web",
                "send deployment events for web"),
            .init(
                "zg-env webhook create https://relay.example/ --all-projects",
                "send deployment events for all projects"),
            .init(
                "zg-env webhook create --postal --all-projects",
                "send events to the devices of the joined relay"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        \(WebhookListing.fields); relay?, hook?, account?, credentialFile?: string (with --postal)
        With --dry-run:
        url: string; events, projectIds: [string]; dryRun: true
        """

    /// The events of a deployment's life.
    private static let standardEvents = [
        "deployment.created", "deployment.ready", "deployment.succeeded", "deployment.error",
        "deployment.canceled", "deployment.promoted",
    ]

    /// The most webhooks of a team.
    private static let maximum = 20

    private let url: String?
    private let isForRelay: Bool
    private let credentialFile: String?
    private let events: [String]
    private let allProjects: Bool

    init(_ command: ParsedCommand) {
        url = command.argument("URL")
        isForRelay = command.has("postal")
        credentialFile = command.value("credential-file")
        let events = command.values("event")
        let standard = isForRelay ? RelayedWebhook.events : Self.standardEvents
        self.events = events.isEmpty ? standard : events
        allProjects = command.has("all-projects")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let address = isForRelay ? "" : try checkedURL(workspace)
        guard isForRelay || credentialFile == nil else {
            throw CommandError(.usage, "--credential-file requires --postal.")
        }
        let areWords = events.allSatisfy { (1...100).contains($0.utf8.count) && $0.isPlainWord }
        guard areWords, events.count <= 100 else {
            throw CommandError(
                .usage,
                "Not a valid event name: use only letters, digits, dots, hyphens and underscores.",
                hint: "For example: deployment.error")
        }
        // Opens the vault before creating the webhook, since Vercel shows the secret only once.
        try openValues(workspace)
        let scope = try WebhookScope(all: allProjects, needsChoice: true, workspace)
        let place = scope.project?.name ?? "all projects"
        warnOfProjectEvents(scope, workspace)
        let relayed =
            isForRelay
            ? try RelayedWebhook(at: self.url, credentialFile: credentialFile, workspace, scope)
            : nil
        let url = relayed?.url ?? address
        if workspace.options.dryRun {
            return CommandResult(
                json: [
                    "url": .string(url), "events": .strings(events),
                    "projectIds": .strings(scope.project.map { [$0.id] } ?? []), "dryRun": true,
                ],
                text:
                    "Would send \(events.joined(separator: ", ")) of \(DisplayText.safe(place)) to \(DisplayText.safe(url)).\n"
            )
        }
        let (webhook, secret) = try create(url, scope)
        do {
            try WebhookSecrets.keep(secret, of: webhook, workspace)
            do {
                try relayed?.write(secret)
            } catch {
                try? WebhookSecrets.remove(of: webhook.id, workspace)
                throw error
            }
        } catch {
            throw undone(webhook, CommandError(mapping: error), scope)
        }
        workspace.note(
            "Stored the secret as \(WebhookSecrets.key(of: webhook.id)) in \(WebhookSecrets.projectName)."
        )
        if let relayed { workspace.note(relayed.remedy) }
        return CommandResult(
            json: .object(
                WebhookListing.members(webhook, secretIsKept: true) + (relayed?.members ?? [])),
            text: "\(DisplayText.safe(webhook.id))\n")
    }

    /// Warns of events that a webhook of one project never gets.
    private func warnOfProjectEvents(_ scope: WebhookScope, _ workspace: Workspace) {
        let silent = events.filter { $0.hasPrefix("project.") }
        guard scope.project != nil, !silent.isEmpty else { return }
        workspace.context.warn(
            "project-events",
            "Vercel sends \(silent.joined(separator: ", ")) only to webhooks for all projects (\"All Team Projects\"). Use --all-projects to receive them."
        )
    }

    private func checkedURL(_ workspace: Workspace) throws -> String {
        guard let url else {
            throw CommandError(
                .usage, "No URL given.",
                hint: "Specify a URL, or use --postal for the joined relay.")
        }
        let isPlain = url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        let host = url.hasPrefix("https://") ? url.dropFirst(8) : url.dropFirst(7)
        let place = host.prefix { !"/?#".contains($0) }
        guard url.hasPrefix("https://") || url.hasPrefix("http://"), isPlain,
            !place.isEmpty, url.utf8.count <= 2_048
        else {
            throw CommandError(
                .usage, "Not a valid webhook URL.",
                hint: "Use a URL such as https://relay.example/hook.")
        }
        guard !place.contains("@") else {
            throw CommandError(
                .usage,
                "The URL contains a user name or password, which the whole team could read.",
                hint: "Leave them out; the signature authenticates messages.")
        }
        if url.hasPrefix("http://") {
            workspace.context.warn(
                "not-encrypted",
                "Events are sent over plain http, where others can read them. The signature still protects against tampering."
            )
        }
        return url
    }

    private func openValues(_ workspace: Workspace) throws {
        do {
            try workspace.session.keysForWriting()
        } catch let error as VaultError where error.code == .notFound {
            throw CommandError(
                .notFound, "There is no vault to store the webhook's secret in.",
                hint: "Create a vault with: zg-env init")
        }
    }

    /// Creates the webhook. If the response with the secret is lost, finds the webhook and deletes
    /// it.
    private func create(
        _ url: String, _ scope: WebhookScope
    ) throws -> (webhook: Webhook, secret: SecretSlice) {
        let before = Set(try scope.client.webhooks().map(\.id))
        let ids = scope.project.map { [$0.id] } ?? []
        let arena = SecretArena(firstRegionByteCount: 4096)
        do throws(VercelAPIError) {
            return try scope.client.createWebhook(
                url: url, events: events, projectIds: ids, secretInto: arena)
        } catch {
            switch error.code {
            case .outcomeUnknown, .malformedAnswer:
                let stray = try? scope.client.webhooks().filter {
                    !before.contains($0.id) && $0.url == url && Set($0.events) == Set(events)
                }
                guard let stray else { throw error }
                for webhook in stray {
                    throw undone(
                        webhook,
                        CommandError(.unavailable, "Vercel's response with the secret was lost."),
                        scope)
                }
                throw CommandError(
                    .unavailable,
                    "Vercel did not respond to the request, and a check found no new webhook.",
                    hint: "Run the command again.")
            case .badRequest where before.count >= Self.maximum:
                throw CommandError(
                    .failed,
                    "Vercel rejected the webhook: there are \(before.count) already, and a team can have \(Self.maximum)."
                        + error.saying,
                    hint: "Delete one with: zg-env webhook delete ID")
            case .badRequest:
                throw CommandError(
                    .usage,
                    "Vercel rejected the webhook: the URL or an event name is invalid."
                        + error.saying,
                    hint: "Check the event names.")
            case .forbidden, .paymentRequired:
                var refusal = CommandError(mapping: error)
                refusal.hint =
                    "Webhooks need a team plan that includes them, and a role that may create them."
                throw refusal
            default: throw error
            }
        }
    }

    /// Deletes a webhook whose secret is lost, and adds the result to the error.
    private func undone(
        _ webhook: Webhook, _ cause: CommandError, _ scope: WebhookScope
    ) -> CommandError {
        do throws(VercelAPIError) {
            _ = try scope.client.deleteWebhook(webhook.id)
            return cause.adding("The webhook was deleted.", hint: "Run the command again.")
        } catch {
            return CommandError(
                cause.code,
                "\(cause.message) The webhook \(webhook.id) still exists, but its secret is lost.",
                hint: "Delete it with: zg-env webhook delete \(word: webhook.id)")
        }
    }
}
