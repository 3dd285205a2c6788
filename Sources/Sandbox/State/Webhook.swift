internal import JSON

/// A URL that receives events.
struct Webhook: Codable, Sendable {
    var id: String
    var secret: String
    var url: String
    var events: [String]
    var ownerId: String
    /// The only projects whose events it receives; empty means all of the owner.
    var projectIds: [String]
    /// True for the webhook given at the start, which receives everything.
    var hearsEverything: Bool
    var createdAt: Int64
    var updatedAt: Int64

    /// Returns the API's form; the secret appears only at creation.
    func json(withSecret: Bool = false) -> JSONValue {
        .members([
            "id": .string(id), "url": .string(url), "events": .strings(events),
            "ownerId": .string(ownerId),
            // Absent, not null: a bare nil would be the JSON value.
            "projectIds": projectIds.isEmpty ? JSONValue?.none : .strings(projectIds),
            "createdAt": .integer(createdAt), "updatedAt": .integer(updatedAt),
            "secret": withSecret ? .string(secret) : JSONValue?.none,
        ])
    }

    /// The events of Vercel's API description of 2025-10, and those seen in clients since.
    static let knownEvents: Set<String> = Set(
        """
        budget.reached budget.reset domain.created domain.dns.records.changed
        domain.transfer-in.started domain.transfer-in.completed domain.transfer-in.failed
        domain.certificate.add domain.certificate.add.failed domain.certificate.renew
        domain.certificate.renew.failed domain.certificate.deleted domain.renewal
        domain.renewal.failed domain.auto-renew.changed deployment.created deployment.cleanup
        deployment.error deployment.canceled deployment.succeeded deployment.ready
        deployment.check-rerequested deployment.promoted deployment.integration.action.start
        deployment.integration.action.cancel deployment.integration.action.cleanup
        deployment.checkrun.start deployment.checkrun.cancel edge-config.created
        edge-config.deleted edge-config.items.updated firewall.attack
        integration-configuration.permission-upgraded integration-configuration.removed
        integration-configuration.scope-change-confirmed integration-resource.project-connected
        integration-resource.project-disconnected project.created project.removed
        project.domain.created project.domain.updated project.domain.deleted
        project.domain.verified project.domain.unverified project.domain.moved
        project.rolling-release.started project.rolling-release.aborted
        project.rolling-release.completed project.rolling-release.approved
        deployment.checks.failed deployment.checks.succeeded deployment-checks-completed
        deployment-ready deployment-prepared deployment-error deployment-check-rerequested
        deployment-canceled project-created project-removed domain-created deployment
        integration-configuration-permission-updated integration-configuration-removed
        integration-configuration-scope-change-confirmed marketplace.member.changed
        marketplace.invoice.created marketplace.invoice.paid marketplace.invoice.notpaid
        marketplace.invoice.refunded observability.anomaly observability.anomaly-error
        observability.usage-anomaly observability.error-anomaly observability.anomaly-botId
        test-webhook deployment.build-requested deployment.blocked deployment.rollback
        project.renamed project.env-variable.created project.env-variable.updated
        project.env-variable.deleted
        """.split(whereSeparator: \.isWhitespace).map(String.init))
}

/// A message to a webhook.
struct WebhookMessage: Codable, Sendable {
    /// The same in every delivery attempt.
    var id: String
    var webhookId: String
    var url: String
    var type: String
    /// The JSON text that is signed and sent.
    var body: String
    /// Lowercase hexadecimal HMAC-SHA1 of the body.
    var signature: String
    var attempts: Int
    /// The next attempt, in milliseconds of the sandbox's clock; `nil` after the last one.
    var dueAt: Int64?
    /// The status of the last response.
    var status: Int?
}
