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

    /// The most webhooks of a team or user.
    static let maximumPerOwner = 20

    /// Returns whether it receives an event. Vercel sends a project's own events only to webhooks of
    /// all projects of a team.
    func receives(_ event: String, ofProject projectId: String, ownerId: String) -> Bool {
        if hearsEverything { return true }
        guard self.ownerId == ownerId, events.contains(event) else { return false }
        return projectIds.isEmpty
            || projectIds.contains(projectId) && !event.hasPrefix("project.")
    }

    /// The events of Vercel's API description of 2026-08.
    static let knownEvents: Set<String> = Set(
        """
        ai-gateway.auto-reload.limit-reached ai-gateway.balance-depleted alerts.triggered
        botid.anomaly budget.reached comment.created comment.deleted comment.mentioned
        comment.reaction-added comment.reaction-removed comment.resolved comment.unresolved
        comment.updated deployment deployment-canceled deployment-check-rerequested
        deployment-checks-completed deployment-error deployment-prepared deployment-ready
        deployment.blocked deployment.build-requested deployment.canceled
        deployment.check-rerequested deployment.checkrun.cancel deployment.checkrun.start
        deployment.checks.failed deployment.checks.succeeded deployment.cleanup
        deployment.created deployment.error deployment.integration.action.cancel
        deployment.integration.action.cleanup deployment.integration.action.start
        deployment.promoted deployment.ready deployment.rollback deployment.succeeded
        domain-created domain.auto-renew.changed domain.certificate.add
        domain.certificate.add.failed domain.certificate.deleted domain.certificate.renew
        domain.certificate.renew.failed domain.created domain.dns.records.changed domain.renewal
        domain.renewal.failed domain.transfer-in.completed domain.transfer-in.failed
        domain.transfer-in.started edge-config.created edge-config.deleted
        edge-config.items.updated firewall.attack firewall.custom-rule-anomaly
        firewall.system-rule-anomaly flag.created flag.deleted flag.segment.created
        flag.segment.deleted flag.segment.updated flag.updated function.archival-required
        function.removal-required integration-configuration-permission-updated
        integration-configuration-removed integration-configuration-scope-change-confirmed
        integration-configuration.permission-upgraded integration-configuration.removed
        integration-configuration.scope-change-confirmed integration-configuration.transferred
        integration-resource.project-connected integration-resource.project-disconnected
        marketplace.invoice.created marketplace.invoice.notpaid marketplace.invoice.overdue
        marketplace.invoice.paid marketplace.invoice.refunded marketplace.member.changed
        message.created message.deleted message.mentioned message.reaction-added
        message.reaction-removed message.updated observability.anomaly
        observability.anomaly-error observability.error-anomaly observability.usage-anomaly
        project-created project-removed project.created project.domain.created
        project.domain.deleted project.domain.moved project.domain.unverified
        project.domain.updated project.domain.verified project.env-variable.created
        project.env-variable.deleted project.env-variable.updated project.removed
        project.renamed project.rolling-release.aborted project.rolling-release.approved
        project.rolling-release.completed project.rolling-release.started test-webhook
        thread.resolved thread.unresolved
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
