internal import HTTPClient
internal import JSON

/// Vercel's response to a promotion or rollback.
package enum PromotionOutcome: Sendable, Equatable {
    /// In progress.
    case accepted
    /// Waiting for a gradual release.
    case queued
}

/// How the production domains move without a build.
package enum PromotionKind: Sendable {
    /// To a deployment that becomes the newest.
    case promotion
    /// Back to a deployment that was live before.
    case rollback
}

/// One domain of a promotion or rollback.
package struct PromotionAlias: Decodable, Sendable, Equatable {
    /// The host name.
    package let alias: String
    package let id: String

    /// Decodes a record, whose `alias` may be a string or an object.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        alias = try object.object("alias")?.text("alias") ?? object.requiredText("alias")
        id = object.text("id") ?? alias
    }
}

extension PromotionAlias: ListElement {
    static var listNames: [JSONKey] { ["aliases"] }
}

extension VercelClient {
    /// Moves the production domains to a deployment that was built for production.
    /// ``project(_:withRollbackInfo:)`` shows the progress.
    package func promote(
        _ deployment: String, ofProject project: String
    ) throws(VercelAPIError) -> PromotionOutcome {
        var call = try APICall(.post, "/v10/projects/\(project)/promote/\(deployment)")
        call.expectation = .nothingOrJSON
        try call.writeObject { (_) throws(OutputError) in }
        return try perform(call).response.status == 202 ? .queued : .accepted
    }

    /// Moves the production domains back to an earlier production deployment. Vercel then stops
    /// assigning them to new deployments. ``project(_:withRollbackInfo:)`` shows the progress.
    ///
    /// - Parameter reason: Shown in Vercel's dashboard.
    package func rollBack(
        to deployment: String, ofProject project: String, reason: String? = nil
    ) throws(VercelAPIError) -> PromotionOutcome {
        var call = try APICall(
            .post, "/v1/projects/\(project)/rollback/\(deployment)",
            query: [("description", reason)])
        call.expectation = .nothingOrJSON
        try call.writeObject { (_) throws(OutputError) in }
        return try perform(call).response.status == 202 ? .queued : .accepted
    }

    /// Lists the state of the domains in the latest promotion or rollback.
    package func promotionAliases(
        ofProject project: String, failedOnly: Bool = false,
        kind: PromotionKind = .promotion
    ) throws(VercelAPIError) -> [PromotionAlias] {
        let path: APIPath =
            switch kind {
            case .promotion: "/v1/projects/\(project)/promote/aliases"
            case .rollback: "/v1/projects/\(project)/rollback/aliases"
            }
        let call = try APICall(
            .get, path, query: [("limit", "100"), ("failedOnly", failedOnly ? "true" : nil)])
        return try list(call, cursor: "until")
    }
}
