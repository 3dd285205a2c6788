internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// The JSON form of a webhook.
enum WebhookListing {
    static let fields = """
        id, url: string; events, projectIds: [string]; createdAt: time | null
        secret: null | { project, key: string } (where the vault keeps it)
        """

    /// - Parameter secretIsKept: Whether the vault has its secret.
    static func members(_ webhook: Webhook, secretIsKept: Bool) -> [JSONValue.Member] {
        [
            .init("id", .string(webhook.id)), .init("url", .string(webhook.url)),
            .init("events", .strings(webhook.events)),
            .init("projectIds", .strings(webhook.projectIds)),
            .init("createdAt", .time(orNull: webhook.createdAt?.milliseconds)),
            .init(
                "secret",
                secretIsKept
                    ? [
                        "project": .string(WebhookSecrets.projectName),
                        "key": .string(WebhookSecrets.key(of: webhook.id)),
                    ] : .null),
        ]
    }
}
