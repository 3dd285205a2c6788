internal import JSON
package import Sealing

/// A place that the platform tells of events.
package struct Webhook: Decodable, Sendable, Equatable {
    /// The id.
    package let id: String
    /// Where events are sent.
    package let url: String
    /// Which events.
    package let events: [String]
    /// Of which projects, by their ids; empty for all.
    package let projectIds: [String]
    /// The user or team it belongs to.
    package let ownerId: String?
    /// When it was made.
    package let createdAt: APITime?
    /// When it was changed last.
    package let updatedAt: APITime?

    /// Reads a record. The secret is passed over.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        url = try object.requiredText("url")
        events = object.texts("events") ?? []
        projectIds = object.texts("projectIds") ?? []
        ownerId = object.text("ownerId")
        createdAt = object.time("createdAt")
        updatedAt = object.time("updatedAt")
    }
}

extension Webhook: ListElement {
    static var listNames: [JSONKey] { ["webhooks"] }
}

extension VercelClient {
    /// Lists webhooks.
    package func webhooks(ofProject projectId: String? = nil) throws(VercelAPIError) -> [Webhook] {
        try list(
            try APICall(.get, "/v1/webhooks", query: [("projectId", projectId)]), cursor: "until")
    }

    /// Reads one webhook.
    package func webhook(_ id: String) throws(VercelAPIError) -> Webhook {
        try read(try perform(try APICall(.get, "/v1/webhooks/\(id)")), as: Webhook.self)
    }

    /// Makes a webhook.
    ///
    /// - Parameters:
    ///   - events: At least one.
    ///   - projectIds: At most 50; empty for all projects.
    /// - Returns: The webhook, and the key that its messages are signed with. The platform shows
    ///   the key this once.
    package func createWebhook(
        url: String, events: [String], projectIds: [String] = [], secretInto arena: SecretArena
    ) throws(VercelAPIError) -> (webhook: Webhook, secret: SecretSlice) {
        var call = try APICall(.post, "/v1/webhooks")
        try call.writeBody { (json) throws(OutputError) in
            try json.object { (json) throws(OutputError) in
                try json.member("url", url)
                try json.member("events", events)
                if !projectIds.isEmpty { try json.member("projectIds", projectIds) }
            }
        }
        let answer = try perform(call)
        let webhook = try readCreated(answer, as: Webhook.self)
        let secret = try scan(answer) { (body) throws(JSONError) in
            try SecretMembers.text("secret", of: body, into: arena)
        }
        guard let secret, secret.count > 0 else {
            throw VercelAPIError(
                .malformedAnswer, reason: "the webhook \(webhook.id) was made without a secret",
                hint: "delete it and make another one")
        }
        return (webhook, secret)
    }

    /// Deletes a webhook.
    package func deleteWebhook(_ id: String) throws(VercelAPIError) -> DeletionOutcome {
        var call = try APICall(.delete, "/v1/webhooks/\(id)")
        call.expectation = .nothingOrJSON
        return try delete(call)
    }
}
