/// Which answer of the platform is meant: what was asked, of whom, by whom.
package struct AnswerAddress: Hashable, Codable, Sendable {
    /// What was asked for.
    package enum Subject: Hashable, Codable, Sendable {
        /// All projects of the scope.
        case projects
        /// The newest deployments of a project, by its id, as far as the filter lets them through; those
        /// of the whole scope where the id is empty.
        case deployments(project: String, filter: String)
        /// The shared variables that a project uses, by its id.
        case sharedVariables(project: String)
        /// That the platform could not be reached.
        case outage
    }

    /// The API's origin.
    package let origin: String
    /// Whose token was used: another login or another token is another account here.
    package let account: String
    /// The team, as requests name it; empty for the owner of the token.
    package let scope: String
    /// What was asked for.
    package let subject: Subject

    /// Names all parts.
    package init(origin: String, account: String, scope: String, subject: Subject) {
        self.origin = origin
        self.account = account
        self.scope = scope
        self.subject = subject
    }

    /// The same askers and asked with another subject.
    package func asking(_ subject: Subject) -> AnswerAddress {
        AnswerAddress(origin: origin, account: account, scope: scope, subject: subject)
    }
}
