/// Identifies a response of Vercel: the API, the account, the scope and the request.
package struct ResponseKey: Hashable, Codable, Sendable {
    package enum Subject: Hashable, Codable, Sendable {
        /// All projects of the scope.
        case projects
        /// The newest deployments of a project, by its id, that match the filter; those of the
        /// whole scope if the id is empty.
        case deployments(project: String, filter: String)
        /// The shared variables that a project uses, by its id.
        case sharedVariables(project: String)
        /// What integrations manage of a project, by its id.
        case integrations(project: String)
        /// What was seen of a project of the vault, by its id in hexadecimal.
        case sighting(project: String)
        /// The note that Vercel could not be reached.
        case outage
    }

    /// The API's origin.
    package let origin: String
    /// The account of the token. A different login or token counts as a different account.
    package let account: String
    /// The team, as in requests; empty for the token's owner.
    package let scope: String
    package let subject: Subject

    package init(origin: String, account: String, scope: String, subject: Subject) {
        self.origin = origin
        self.account = account
        self.scope = scope
        self.subject = subject
    }

    /// Whether it is what was seen of a project, which is no account's.
    package var isSighting: Bool { if case .sighting = subject { true } else { false } }

    /// Returns the address of another subject for the same API, account and scope.
    package func asking(_ subject: Subject) -> ResponseKey {
        ResponseKey(origin: origin, account: account, scope: scope, subject: subject)
    }
}
