internal import JSON
package import VercelAPI

/// A response that may be cached. Only the members in its `CodingKeys` are written, and the API's
/// decoders read that form as well.
///
/// Must never contain values of variables, the environment of a deployment or log texts.
package protocol CacheableResponse: Codable, Sendable {}

extension Project: CacheableResponse {}
extension SharedVariable: CacheableResponse {}
extension Array: CacheableResponse where Element: CacheableResponse {}

/// The newest deployments of a project, and the live one.
package struct DeploymentsResponse: CacheableResponse, Equatable {
    /// The id of the live deployment; nil without one.
    package let current: String?
    /// Newest first.
    package let deployments: [Deployment]
    /// Whether production was rolled back; nil if not asked.
    package let isRolledBack: Bool?

    package init(current: String?, deployments: [Deployment], isRolledBack: Bool? = nil) {
        self.current = current
        self.deployments = deployments
        self.isRolledBack = isRolledBack
    }
}

/// The variables of a project that integrations manage.
package struct IntegrationNote: CacheableResponse, Equatable {
    /// What the integration says of each, by Vercel's id.
    package let kinds: [String: String]

    package init(kinds: [String: String]) { self.kinds = kinds }
}

/// The note that Vercel could not be reached at the last attempt. Only its time matters.
package struct OutageNote: CacheableResponse {
    package init() {}
}

/// A cached response: its cacheable members, with the time and address of the request.
package struct CachedResponse: Equatable, Sendable {
    private struct Line<Answer: CacheableResponse>: Codable {
        let address: ResponseKey
        let askedAt: UInt64
        let answer: Answer
    }

    package let address: ResponseKey
    /// When the request was sent, by this machine's clock, in milliseconds since 1970. Later
    /// changes on Vercel may be missing.
    package let askedAt: UInt64
    /// The whole entry as JSON in one line. Decoded on demand, because a table has many.
    let line: [UInt8]

    /// - Throws: Only for a number that JSON cannot represent.
    init(_ answer: some CacheableResponse, at address: ResponseKey, askedAt: UInt64) throws {
        self.address = address
        self.askedAt = askedAt
        line = try JSONEncoder().encode(
            Line(address: address, askedAt: askedAt, answer: answer))
    }

    /// Parses a line; nil if it is invalid.
    init?(line: [UInt8]) {
        // Every response decodes as an empty note.
        guard let head = try? JSONDecoder().decode(Line<OutageNote>.self, from: line) else {
            return nil
        }
        address = head.address
        askedAt = head.askedAt
        self.line = line
    }

    /// Returns the response, or nil if it does not decode as `Answer`.
    package func value<Answer: CacheableResponse>(as type: Answer.Type = Answer.self) -> Answer? {
        (try? JSONDecoder().decode(Line<Answer>.self, from: line))?.answer
    }
}
