internal import JSON

/// Webhooks of the user or of a team.
enum WebhookRoutes {
    static let routes: [Route] = [
        Route("GET", "webhooks", handler: list),
        Route("POST", "webhooks", handler: create),
        Route("GET", "webhooks/:", handler: get),
        Route("DELETE", "webhooks/:", handler: delete),
    ]

    private static func list(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let project = call.request.parameter("projectId")
        let found = state.webhooks.filter { webhook in
            webhook.ownerId == call.ownerId && !webhook.hearsEverything
                && (project.map {
                    webhook.projectIds.isEmpty || webhook.projectIds.contains($0)
                } ?? true)
        }
        return .json(.array(found.map { $0.json() }))
    }

    private static func create(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let fields = try call.fields()
        try fields.allow(only: ["url", "events", "projectIds"])
        let url = try fields.requiredString("url")
        let scheme = url.lowercased()
        guard scheme.hasPrefix("https://") || scheme.hasPrefix("http://"), url.utf8.count <= 2048,
            url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw APIError(
                status: 400, code: "invalid_url", message: "The URL is not an http URL.")
        }
        guard let events = try fields.strings("events"), !events.isEmpty else {
            throw .badRequest("Invalid request: `events` should NOT have fewer than 1 items.")
        }
        guard events.allSatisfy(Webhook.knownEvents.contains) else {
            throw APIError(
                status: 400, code: "invalid_event", message: "One of the events is unknown.")
        }
        let own = state.webhooks.count { $0.ownerId == call.ownerId && !$0.hearsEverything }
        guard own < Webhook.maximumPerOwner else {
            throw .badRequest(
                "You have reached the maximum of \(Webhook.maximumPerOwner) webhooks.")
        }
        let projectIds = try fields.strings("projectIds")
        if let projectIds {
            guard (1...50).contains(projectIds.count) else {
                throw .badRequest("Invalid request: `projectIds` should have 1 to 50 items.")
            }
            let known = state.projects.filter { $0.ownerId == call.ownerId }.map(\.id)
            guard projectIds.allSatisfy(known.contains) else { throw .notFound("Project") }
        }
        let webhook = Webhook(
            id: state.generator.identifier("account_hook_", count: 24),
            secret: state.generator.identifier("", count: 24), url: url, events: events,
            ownerId: call.ownerId, projectIds: projectIds ?? [], hearsEverything: false,
            createdAt: call.now, updatedAt: call.now)
        state.webhooks.append(webhook)
        return .json(webhook.json(withSecret: true))
    }

    private static func index(_ call: Call, _ state: SandboxState) throws(APIError) -> Int {
        let index = state.webhooks.firstIndex {
            $0.ownerId == call.ownerId && $0.id == call.parameters[0] && !$0.hearsEverything
        }
        guard let index else { throw .notFound("Webhook") }
        return index
    }

    private static func get(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        .json(state.webhooks[try index(call, state)].json())
    }

    private static func delete(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let webhook = state.webhooks.remove(at: try index(call, state))
        state.messages.removeAll { $0.webhookId == webhook.id }
        return .empty(status: 204)
    }
}
