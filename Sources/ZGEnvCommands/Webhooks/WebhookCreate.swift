internal import CommandLineKit
internal import DotEnv
internal import JSON
internal import Sealing
internal import Vault
internal import VercelAPI

/// `webhook create`: has the platform tell a server of events, and keeps what it signs them with.
struct WebhookCreate: Command {
    static let spec = CommandSpec(
        ["webhook", "create"], "Have the platform tell a server of events", section: "Platform",
        discussion: """
            The secret that messages are signed with goes from the answer into the vault, as a \
            variable of the project \(WebhookSecrets.projectName), and is shown nowhere; hand it to a \
            server with: zg-env run -p \(WebhookSecrets.projectName) -- SERVER. Where it cannot be \
            sealed the webhook is deleted again: the platform shows the secret once. With --postal the \
            relay that this vault has joined is told, and the secret goes into a file for it too.
            """,
        arguments: [
            ArgumentSpec("URL", .optional, "Where events are sent; with --postal which relay")
        ],
        options: [
            OptionSpec(
                "event", value: "EVENT",
                "Only these events, such as deployment.error; by default what becomes of deployments",
                repeatable: true, commaSeparated: true), WebhookScope.allOption,
        ] + RelayedWebhook.options,
        examples: [
            .init(
                "zg-env webhook create https://relay.example/hook -p web",
                "what becomes of the deployments of web"),
            .init(
                "zg-env webhook create https://relay.example/ --all-projects",
                "those of all projects"),
            .init(
                "zg-env webhook create --postal --all-projects",
                "for the devices of the relay that was joined"),
        ],
        exitCodes: ExitCode.ofPlatform)

    /// What becomes of deployments.
    private static let standardEvents = [
        "deployment.created", "deployment.ready", "deployment.succeeded", "deployment.error",
        "deployment.canceled", "deployment.promoted",
    ]

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
            throw CommandError(.usage, "--credential-file goes with --postal alone.")
        }
        guard events.allSatisfy(isWord), events.count <= 100 else {
            throw CommandError(
                .usage, "That is no event: its name has letters, digits, dots and hyphens.",
                hint: "For example: deployment.error")
        }
        // First of all, since the secret comes once.
        let keys = try keys(workspace)
        let scope = try WebhookScope(all: allProjects, needsChoice: true, workspace)
        let place = scope.project?.name ?? "all projects"
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
                    "Would tell \(DisplayText.safe(url)) of \(events.joined(separator: ", ")) of \(DisplayText.safe(place)).\n"
            )
        }
        let (webhook, secret) = try create(url, scope)
        do {
            try WebhookSecrets.keep(secret, of: webhook, with: keys, workspace)
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
            "The secret is sealed as \(WebhookSecrets.key(of: webhook.id)) of \(WebhookSecrets.projectName)."
        )
        if let relayed { workspace.note(relayed.remedy) }
        return CommandResult(
            json: .object(
                WebhookListing.members(webhook, secretIsKept: true) + (relayed?.members ?? [])),
            text: "\(DisplayText.safe(webhook.id))\n")
    }

    private func checkedURL(_ workspace: Workspace) throws -> String {
        guard let url else {
            throw CommandError(
                .usage, "Where are events to be sent?",
                hint: "Give an address, or --postal for the relay that was joined.")
        }
        let isPlain = url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        let host = url.hasPrefix("https://") ? url.dropFirst(8) : url.dropFirst(7)
        let place = host.prefix { !"/?#".contains($0) }
        guard url.hasPrefix("https://") || url.hasPrefix("http://"), isPlain,
            !place.isEmpty, url.utf8.count <= 2_048
        else {
            throw CommandError(
                .usage, "That is no address that events can be sent to.",
                hint: "Give one such as https://relay.example/hook.")
        }
        guard !place.contains("@") else {
            throw CommandError(
                .usage, "The address holds a name or password, which the whole team could read.",
                hint: "Leave it out: messages are known by their signature.")
        }
        if url.hasPrefix("http://") {
            workspace.context.warn(
                "not-encrypted",
                "Events are sent to plain http: whoever is on the way reads them. The signature still holds."
            )
        }
        return url
    }

    private func isWord(_ event: String) -> Bool {
        (1...100).contains(event.utf8.count)
            && event.utf8.allSatisfy { byte in
                byte == 0x2E || byte == 0x2D || byte == 0x5F || (0x30...0x39).contains(byte)
                    || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            }
    }

    private func keys(_ workspace: Workspace) throws -> VaultKeys {
        do {
            return try workspace.session.keys(.index)
        } catch let error as VaultError where error.code == .notFound {
            throw CommandError(
                .notFound, "There is no vault to keep the webhook's secret in.",
                hint: "Nothing was made. Make a vault with: zg-env init")
        }
    }

    /// Makes it. One of which nobody got the secret is of no use, so it is looked for and deleted.
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
                        CommandError(.unavailable, "The answer with the secret is lost."),
                        scope)
                }
                throw CommandError(
                    .unavailable, "The platform did not answer, and shows no new webhook.",
                    hint: "Nothing was made; run it again.")
            case .badRequest:
                throw CommandError(
                    .usage,
                    "The platform does not take this webhook: it does not know one of the events, or not this kind of address."
                        + error.saying,
                    hint: "Nothing was made. Look at the names of the events.")
            case .forbidden, .paymentRequired:
                var refusal = CommandError(mapping: error)
                refusal.hint =
                    "Nothing was made. Webhooks need a team whose plan has them, and a role that may make them."
                throw refusal
            default: throw error
            }
        }
    }

    /// Deletes a webhook whose secret is not kept, and says what stands.
    private func undone(
        _ webhook: Webhook, _ cause: CommandError, _ scope: WebhookScope
    ) -> CommandError {
        var error = cause
        do throws(VercelAPIError) {
            _ = try scope.client.deleteWebhook(webhook.id)
            error.message += " The webhook was deleted again."
            error.hint = "Nothing is left of it; run it again."
        } catch {
            return CommandError(
                cause.code,
                "\(cause.message) The webhook \(webhook.id) stands, and nobody has its secret.",
                hint: "Delete it with: zg-env webhook delete \(word: webhook.id)")
        }
        return error
    }
}
