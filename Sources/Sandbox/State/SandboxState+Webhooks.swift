internal import JSON
internal import SystemFiles
internal import WebhookSigning

extension SandboxState {
    /// Queues messages about a deployment's change.
    mutating func tell(_ event: String, _ deployment: Deployment, at time: Int64) {
        let slug = slug(ofOwner: deployment.ownerId)
        let payload: JSONValue = [
            "team": team(id: deployment.ownerId).map { ["id": .string($0.id)] } ?? .null,
            "user": ["id": .string(deployment.creatorId)],
            "alias": .strings(hosts(of: deployment)),
            "deployment": [
                "id": .string(deployment.id), "meta": JSONValue(deployment.meta),
                "name": .string(deployment.name), "url": .string(deployment.host),
            ],
            "links": [
                "deployment": .string(
                    "https://vercel.com/\(slug)/\(deployment.name)/\(deployment.id.dropFirst(4))"),
                "project": .string("https://vercel.com/\(slug)/\(deployment.name)"),
            ],
            "target": .string(orNull: deployment.target),
            "plan": .string(plan(ofOwner: deployment.ownerId)),
            "project": ["id": .string(deployment.projectId)], "regions": ["iad1"],
        ]
        queue(
            event, payload, ownerId: deployment.ownerId, projectId: deployment.projectId, at: time)
    }

    /// Queues a message about a rollback, which names both deployments and describes neither.
    mutating func tellRollback(
        of project: Project, from: String?, to: String, by author: String, at time: Int64
    ) {
        let payload: JSONValue = [
            "team": teamJSON(of: project), "user": ["id": .string(author)],
            "project": ["id": .string(project.id)], "fromDeploymentId": .string(orNull: from),
            "toDeploymentId": .string(to),
        ]
        queue(
            "deployment.rollback", payload, ownerId: project.ownerId, projectId: project.id,
            at: time)
    }

    /// Queues messages about changed variables: ids, neither names nor values. Several deleted at
    /// once have no ids.
    mutating func tell(
        _ what: String, _ records: [EnvironmentVariable], by author: String?, at time: Int64
    ) {
        let isAnonymous = what == "deleted" && records.count > 1
        for record in records {
            guard let project = project(id: record.projectId) else { continue }
            let payload: JSONValue = [
                "team": teamJSON(of: project), "user": ["id": .string(author ?? user.id)],
                "projectId": .string(project.id),
                "envVarId": isAnonymous ? .null : .string(record.id),
            ]
            queue(
                "project.env-variable.\(what)", payload, ownerId: project.ownerId,
                projectId: project.id, at: time)
        }
    }

    private func teamJSON(of project: Project) -> JSONValue {
        team(id: project.ownerId).map { ["id": .string($0.id)] } ?? .null
    }

    /// Queues messages about a project's change; `more` is added to the payload.
    mutating func tell(
        _ event: String, _ project: Project, more: [String: JSONValue] = [:],
        by author: String? = nil, at time: Int64
    ) {
        let payload: [String: JSONValue] = [
            "team": teamJSON(of: project), "user": ["id": .string(author ?? user.id)],
            "project": ["id": .string(project.id), "name": .string(project.name)],
        ]
        queue(
            event, .members(payload.merging(more) { $1 }), ownerId: project.ownerId,
            projectId: project.id, at: time)
    }

    private mutating func queue(
        _ event: String, _ payload: JSONValue, ownerId: String, projectId: String, at time: Int64
    ) {
        for webhook in webhooks
        where webhook.receives(event, ofProject: projectId, ownerId: ownerId) {
            let id = generator.identifier("evt_", count: 24)
            let body: JSONValue = [
                "id": .string(id), "type": .string(event), "createdAt": .integer(time),
                "region": "iad1", "payload": payload,
            ]
            let bytes = body.encoded
            let code = WebhookSignature.code(of: bytes, openSecret: Array(webhook.secret.utf8))
            let signature = Hexadecimal.text(of: code ?? [])
            messages.append(
                WebhookMessage(
                    id: id, webhookId: webhook.id, url: webhook.url, type: event,
                    body: String(decoding: bytes, as: UTF8.self), signature: signature,
                    attempts: 0, dueAt: time, status: nil))
        }
        // Keeps the state file from growing forever.
        if messages.count > 1000 { messages.removeFirst(messages.count - 1000) }
    }
}
