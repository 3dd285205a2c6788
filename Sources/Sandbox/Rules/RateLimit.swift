/// How a sandbox limits the rate of requests.
package enum RateLimit: Sendable, Equatable {
    /// A number of requests of a token in a time window, whatever they are.
    case perToken(requests: Int, seconds: Double)
    /// Vercel's limits: windows of a minute, one for each group of endpoints and owner.
    case perEndpoint

    /// The window that a request counts in.
    struct Window: Sendable, Equatable {
        /// What is counted together.
        var name: String
        var requests: Int
        var seconds: Double
    }

    /// Returns the window of a request, or nil if it is not limited.
    ///
    /// - Parameters:
    ///   - owner: The team or user that the request is about.
    ///   - user: The token's user.
    func window(
        method: String, segments: [String], token: String, owner: String, user: String
    ) -> Window? {
        switch self {
        case .perToken(let requests, let seconds):
            return Window(name: token, requests: requests, seconds: seconds)
        case .perEndpoint:
            guard let group = EndpointGroup(method: method, segments: segments) else { return nil }
            let counted = group.isPerUser ? user : owner
            return Window(
                name: "\(group.rawValue) \(counted)", requests: group.requests, seconds: 60)
        }
    }
}

/// Endpoints that Vercel counts together.
enum EndpointGroup: String, Sendable, CaseIterable {
    case readVariables, pullVariables, createVariables, updateVariables, deleteVariable
    case deleteVariables
    case readDeployment, listDeployments, readTeams, readUser

    init?(method: String, segments: [String]) {
        let parts = VersionedPath.resource(segments)
        let isVariables =
            parts.first == "env" && parts.dropFirst().first != "pull"
            || parts.first == "projects" && parts.count > 2 && parts[2] == "env"
        switch (method, parts.first) {
        case ("GET", _) where isVariables: self = .readVariables
        case ("POST", _) where isVariables: self = .createVariables
        case ("PATCH", _) where isVariables: self = .updateVariables
        case ("DELETE", _) where isVariables:
            self = parts.count > 3 ? .deleteVariable : .deleteVariables
        case ("GET", "env"): self = .pullVariables
        case ("GET", "deployments"): self = parts.count > 1 ? .readDeployment : .listDeployments
        case ("GET", "teams"): self = .readTeams
        case ("GET", "user") where parts.count == 1: self = .readUser
        default: return nil
        }
    }

    /// Requests per minute.
    var requests: Int {
        switch self {
        case .readVariables, .pullVariables, .readDeployment, .readUser: 500
        case .createVariables, .updateVariables: 120
        case .deleteVariable, .deleteVariables: 60
        case .listDeployments: 1000
        case .readTeams: 600
        }
    }

    /// Whether the user's requests are counted, rather than those about an owner.
    var isPerUser: Bool {
        switch self {
        case .readDeployment, .listDeployments, .readTeams, .readUser: true
        case .readVariables, .pullVariables, .createVariables, .updateVariables, .deleteVariable,
            .deleteVariables:
            false
        }
    }
}
