internal import JSON

/// How the platform took a promotion.
package enum PromotionOutcome: Sendable, Equatable {
    /// It is under way.
    case accepted
    /// It waits for a gradual release.
    case queued
}

/// Which of the two ways production's addresses move without a build.
package enum PromotionKind: Sendable {
    /// To a deployment that is to be the newest.
    case promotion
    /// Back to one that was current before.
    case rollback
}

/// The state of one address during a promotion or rollback.
package struct PromotionAlias: Decodable, Sendable, Equatable {
    /// The address.
    package let alias: String
    /// `completed`, `in-progress`, `pending`, `failed` or another word.
    package let status: String
    /// The id of the record.
    package let id: String

    /// Reads a record, whose `alias` may be a text or an object.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        let inner = try? object.nestedContainer(keyedBy: JSONKey.self, forKey: "alias")
        alias = try inner?.text("alias") ?? object.requiredText("alias")
        status = object.text("status") ?? "unknown"
        id = object.text("id") ?? alias
    }
}

extension PromotionAlias: ListElement {
    static var listNames: [JSONKey] { ["aliases"] }
}

extension VercelClient {
    /// Makes a deployment that was built for production the current one, without a build. Ask
    /// ``project(_:withRollbackInfo:)`` how it went.
    package func promote(
        _ deployment: String, ofProject project: String
    ) throws(VercelAPIError) -> PromotionOutcome {
        var call = try APICall(.post, "/v10/projects/\(project)/promote/\(deployment)")
        call.expectation = .nothingOrJSON
        try call.writeBody { (json) throws(OutputError) in
            try json.object { (_) throws(OutputError) in }
        }
        return try perform(call).response.status == 202 ? .queued : .accepted
    }

    /// Makes an earlier production deployment the current one again; the platform then stops
    /// giving production's addresses to new deployments. Ask ``project(_:withRollbackInfo:)`` how
    /// it went.
    ///
    /// - Parameter reason: Shown on the platform's pages.
    package func rollBack(
        to deployment: String, ofProject project: String, reason: String? = nil
    ) throws(VercelAPIError) -> PromotionOutcome {
        var call = try APICall(
            .post, "/v1/projects/\(project)/rollback/\(deployment)",
            query: [("description", reason)])
        call.expectation = .nothingOrJSON
        try call.writeBody { (json) throws(OutputError) in
            try json.object { (_) throws(OutputError) in }
        }
        return try perform(call).response.status == 202 ? .queued : .accepted
    }

    /// Lists what became of the addresses in the latest promotion, or rollback.
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
