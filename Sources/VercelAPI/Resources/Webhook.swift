internal import HTTPClient
internal import JSON
package import Sealing

/// A URL to which Vercel reports events.
package struct Webhook: Decodable, Sendable, Equatable {
    package let id: String
    /// The URL that Vercel calls.
    package let url: String
    package let events: [String]
    /// The ids of the projects whose events it gets; empty for all.
    package let projectIds: [String]
    package let createdAt: APITime?

    /// Decodes a record, skipping the secret.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        url = try object.requiredText("url")
        events = object.texts("events") ?? []
        projectIds = object.texts("projectIds") ?? []
        createdAt = object.time("createdAt")
    }
}

extension Webhook: ListElement {
    static var listNames: [JSONKey] { ["webhooks"] }
}

extension VercelClient {
    package func webhooks(ofProject projectId: String? = nil) throws(VercelAPIError) -> [Webhook] {
        try list(
            try APICall(.get, "/v1/webhooks", query: [("projectId", projectId)]), cursor: "until")
    }

    package func webhook(_ id: String) throws(VercelAPIError) -> Webhook {
        try read(try perform(try APICall(.get, "/v1/webhooks/\(id)")), as: Webhook.self)
    }

    /// Creates a webhook.
    ///
    /// - Parameters:
    ///   - events: At least one.
    ///   - projectIds: At most 50; empty for all projects.
    /// - Returns: The webhook and the key that signs its messages. Vercel shows the key only now.
    package func createWebhook(
        url: String, events: [String], projectIds: [String] = [], secretInto arena: SecretArena
    ) throws(VercelAPIError) -> (webhook: Webhook, secret: SecretSlice) {
        var call = try APICall(.post, "/v1/webhooks")
        try call.writeObject { (json) throws(OutputError) in
            try json.member("url", url)
            try json.member("events", events)
            if !projectIds.isEmpty { try json.member("projectIds", projectIds) }
        }
        let answer = try perform(call)
        let webhook = try readCreated(answer, as: Webhook.self)
        let secret = try scan(answer) { (body) throws(JSONError) in
            try SecretMembers.text("secret", of: body, into: arena)
        }
        guard let secret, secret.count > 0 else {
            throw VercelAPIError(
                .malformedAnswer, reason: "webhook \(webhook.id) was created without a secret",
                hint: "delete it and create another one")
        }
        return (webhook, secret)
    }

    package func deleteWebhook(_ id: String) throws(VercelAPIError) -> DeletionOutcome {
        try delete(try APICall(.delete, "/v1/webhooks/\(id)"))
    }
}
